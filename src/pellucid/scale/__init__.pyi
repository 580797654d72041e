from pellucid.scale._kmeans import KMeans as KMeans
from pellucid.scale.passes import PassRecord as PassRecord
