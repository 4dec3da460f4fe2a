# SPDX-License-Identifier: Apache-2.0
# The examples: shipped, and installed below $(pkgdatadir)/examples. A new file: one line here.

nobase_dist_pkgdata_DATA += \
	examples/cluster/README.md examples/cluster/cluster.qcnn examples/cluster/config.yaml examples/cluster/expect \
	examples/cluster-hybrid/README.md examples/cluster-hybrid/config.yaml examples/cluster-hybrid/expect examples/cluster-hybrid/hybrid.qcnn \
	examples/cluster-legacy/README.md examples/cluster-legacy/config.yaml examples/cluster-legacy/expect examples/cluster-legacy/legacy.qcnn \
	examples/cluster-three-filters/README.md examples/cluster-three-filters/config.yaml examples/cluster-three-filters/expect examples/cluster-three-filters/three-filters.qcnn \
	examples/digits/README.md examples/digits/config.yaml examples/digits/digits.qcnn examples/digits/digits01.csv examples/digits/expect
