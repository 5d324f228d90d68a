"""What is measured: every measure's definition and formula, and the quantities behind them."""
