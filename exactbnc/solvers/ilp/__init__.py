"""Branch-and-cut in SCIP, for every problem: `solver` begins at the root, builds the `model` and adds the `plugins`."""
