"""Elementary functions, random numbers and kernels with the same bytes everywhere."""
