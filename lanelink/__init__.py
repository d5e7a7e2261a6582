"""lanelink: from the tensor graph of a decoding step to the fewest, largest CUDA launches, in xDSL."""
