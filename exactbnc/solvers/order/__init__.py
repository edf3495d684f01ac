"""The search over orders: `solver` begins at the root, `layers` holds prefixes by size, `_kernels` expand them."""
