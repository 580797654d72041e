"""Rule sets: short rules for the clusters that can be described, and no rule for the rest."""
