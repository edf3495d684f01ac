"""The tables of the papers, one module per paper; `scripts/reproduce.py` runs them."""
