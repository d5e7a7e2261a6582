"""The classes, in the order they are looked for: later walks take what earlier ones built as parts."""

from __future__ import annotations

from lanelink.passes.fuse.embeddings import EMBED_NORM, EMBED_SCALE
from lanelink.passes.fuse.glu import GEMV_GATE_UP_GLU, GLU_ACT_MUL
from lanelink.passes.fuse.norms import ADD_NORM
from lanelink.passes.fuse.patterns import Walk
from lanelink.passes.fuse.placement import ROW_IN_PLACE
from lanelink.passes.fuse.products import GEMM_BIAS, GEMV_NORM_EPILOGUE, MERGED_QKV
from lanelink.passes.fuse.quant import (
    ADD_NORM_QUANT,
    ATTN_OUTPUT_QUANT,
    ELEMENTWISE_QUANT,
    GEMV_QUANT,
    GLU_ACT_MUL_QUANT,
    NORM_QUANT,
)
from lanelink.passes.fuse.ropes import QK_NORM_ROPE, QKV_HEAD_EPILOGUE, ROPE_QK_ONE_LAUNCH
from lanelink.passes.fuse.sampling import FUSED_SAMPLING

WALKS: tuple[Walk, ...] = (
    # Two lifted ops each. A sum that is a product's bias is met, and taken, before the norm that reads it.
    (GEMM_BIAS, ADD_NORM, QK_NORM_ROPE, GLU_ACT_MUL, EMBED_SCALE),
    # Results that land in a table; the gated pair, met before the quantize that reads it; quantized results.
    (
        ROW_IN_PLACE,
        GEMV_GATE_UP_GLU,
        NORM_QUANT,
        ADD_NORM_QUANT,
        GLU_ACT_MUL_QUANT,
        ATTN_OUTPUT_QUANT,
        GEMV_QUANT,
        ELEMENTWISE_QUANT,
    ),
    # Folds: a whole launch, and what its last block does after it.
    (QKV_HEAD_EPILOGUE, GEMV_NORM_EPILOGUE, EMBED_NORM),
    # What lies side by side.
    (MERGED_QKV, ROPE_QK_ONE_LAUNCH, FUSED_SAMPLING),
)
