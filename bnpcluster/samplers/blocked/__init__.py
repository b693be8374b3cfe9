"""The blocked sampler: parameters of clusters are drawn, then all labels at once."""
