"""Random cases of every kernel with what its meaning makes of them: run by the tests and on a device alike."""
