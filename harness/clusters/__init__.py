"""Clusters of the reference: simulated in this process, or as processes of their own."""

from harness.clusters.plan import ClusterPlan

__all__ = ["ClusterPlan"]
