"""What kernels are made of: compilation, operations, partitions, the state of a chain."""
