"""The posterior predictive of new rows."""
