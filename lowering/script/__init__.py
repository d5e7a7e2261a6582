"""A driver step written out as a program of its own."""
