"""Children that share their required parents, scored together: every joint set is counted once."""
