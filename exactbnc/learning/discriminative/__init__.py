"""The class posterior of a structure, fitted to predict: cliques, penalised logistic regression, calibration."""
