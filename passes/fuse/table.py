"""The classes, in the order they are looked for: later walks take what earlier ones built as parts."""

from __future__ import annotations

from lanelink.passes.fuse.delta import (
    CONV_BIAS_SILU,
    CONV_PARTS,
    CONV_SILU_L2NORM,
    GDN_GATE_PROJECTIONS,
    GDN_GATING,
)
from lanelink.passes.fuse.embeddings import EMBED_NORM, EMBED_SCALE
from lanelink.passes.fuse.gates import ATTN_OUTPUT_GATE
from lanelink.passes.fuse.glu import GEMV_GATE_UP_GLU, GLU_ACT_MUL
from lanelink.passes.fuse.latent import MLA
from lanelink.passes.fuse.mixture import MOE_DEFERRED_FINALIZE, MOE_TOKEN_SORT, SHARED_EXPERT_FUSION
from lanelink.passes.fuse.norms import ADD_NORM, NORM_THEN_ADD
from lanelink.passes.fuse.patterns import Walk
from lanelink.passes.fuse.placement import PART_IN_PLACE, ROW_IN_PLACE, UNITS_IN_PLACE
from lanelink.passes.fuse.products import GEMM_BIAS, GEMV_NORM_EPILOGUE, MERGED_QKV
from lanelink.passes.fuse.quant import (
    ADD_NORM_QUANT,
    ATTN_OUTPUT_QUANT,
    ELEMENTWISE_QUANT,
    GDN_OUTPUT_QUANT,
    GEMV_QUANT,
    GLU_ACT_MUL_QUANT,
    NORM_QUANT,
    ROW_WRITE_QUANT,
)
from lanelink.passes.fuse.ropes import QK_NORM_ROPE, QKV_HEAD_EPILOGUE, ROPE_QK_ONE_LAUNCH
from lanelink.passes.fuse.sampling import FUSED_SAMPLING

WALKS: tuple[Walk, ...] = (
    # Lifted ops alone. A sum that is a product's bias is met, and taken, before the norm that reads it; a chunk's rows
    # are gathered before any of their sets lands in place.
    (
        GEMM_BIAS,
        QK_NORM_ROPE,
        GLU_ACT_MUL,
        EMBED_SCALE,
        CONV_BIAS_SILU,
        MOE_TOKEN_SORT,
        GDN_GATING,
    ),
    # What is read in place; gated units, met before the quantize that reads them; a batch's attentions, before each
    # lands in place; a mixture with its shared expert, whose sum is theirs before it is the residual sum of the norm
    # that reads it.
    (
        PART_IN_PLACE,
        ATTN_OUTPUT_GATE,
        ATTN_OUTPUT_QUANT,
        GEMV_GATE_UP_GLU,
        GLU_ACT_MUL_QUANT,
        SHARED_EXPERT_FUSION,
        ADD_NORM,
    ),
    # What lands in place; what else those and the walks before are parts of; quantized results.
    (
        UNITS_IN_PLACE,
        ROW_IN_PLACE,
        NORM_THEN_ADD,
        CONV_SILU_L2NORM,
        GDN_GATE_PROJECTIONS,
        NORM_QUANT,
        ADD_NORM_QUANT,
        GDN_OUTPUT_QUANT,
        GEMV_QUANT,
        ELEMENTWISE_QUANT,
        ROW_WRITE_QUANT,
    ),
    # Folds: a whole launch, and what its last block does after it. A latent attention, whatever it is made of by now.
    (QKV_HEAD_EPILOGUE, MOE_DEFERRED_FINALIZE, GEMV_NORM_EPILOGUE, EMBED_NORM, MLA),
    # What lies side by side.
    (MERGED_QKV, ROPE_QK_ONE_LAUNCH, CONV_PARTS, FUSED_SAMPLING),
)
