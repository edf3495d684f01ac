"""Averages of classifiers: n-dependence estimators, a conditional Gaussian one, and their calibrated mixture."""
