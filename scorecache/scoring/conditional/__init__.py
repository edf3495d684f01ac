"""One child at a time, from the whole table of child, parents and class: for scores and domains that need it."""
