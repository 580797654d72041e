from pellucid.datasets._synthetic import make_eop_patterns as make_eop_patterns
from pellucid.datasets._synthetic import make_synthetic_1 as make_synthetic_1
from pellucid.datasets._synthetic import make_synthetic_2 as make_synthetic_2
from pellucid.datasets._synthetic import make_three_features as make_three_features
from pellucid.datasets._synthetic import make_xor_triangles as make_xor_triangles
from pellucid.datasets._trends import make_card_trends as make_card_trends
