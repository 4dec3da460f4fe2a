# SPDX-License-Identifier: Apache-2.0
# The examples: shipped, and installed below $(pkgdatadir)/examples. A new file: one line here.

nobase_dist_pkgdata_DATA += examples/README.md \
	examples/batch/README.md examples/batch/lsf.sh examples/batch/mpi.sh examples/batch/mpi-split.sh examples/batch/pbs.sh examples/batch/slurm.sh examples/batch/slurm-gpu.sh examples/batch/slurm-seeds.sh examples/batch/slurm-split.sh \
	examples/kubernetes/Containerfile examples/kubernetes/README.md examples/kubernetes/train.yaml \
	examples/bars/README.md examples/bars/bars.csv examples/bars/bars.qcnn examples/bars/config.yaml examples/bars/expect examples/bars/start.json \
	examples/cluster/README.md examples/cluster/callbacks.yaml examples/cluster/cluster.qcnn examples/cluster/config.yaml examples/cluster/expect \
	examples/cluster-hybrid/README.md examples/cluster-hybrid/config.yaml examples/cluster-hybrid/expect examples/cluster-hybrid/hybrid.qcnn \
	examples/cluster-legacy/README.md examples/cluster-legacy/config.yaml examples/cluster-legacy/expect examples/cluster-legacy/legacy.qcnn \
	examples/cluster-noisy/README.md examples/cluster-noisy/config.yaml examples/cluster-noisy/expect examples/cluster-noisy/noisy.qcnn \
	examples/cluster-three-filters/README.md examples/cluster-three-filters/config.yaml examples/cluster-three-filters/expect examples/cluster-three-filters/three-filters.qcnn \
	examples/cong/README.md examples/cong/config.yaml examples/cong/cong.qcnn examples/cong/expect \
	examples/digits/README.md examples/digits/config.yaml examples/digits/digits.qcnn examples/digits/digits01.csv examples/digits/expect \
	examples/digits-few/README.md examples/digits-few/config.yaml examples/digits-few/expect examples/digits-few/few.qcnn \
	examples/hydrogen/README.md examples/hydrogen/config.yaml examples/hydrogen/expect examples/hydrogen/hydrogen.qcnn \
	examples/hydrogen-chain/README.md examples/hydrogen-chain/chain.qcnn examples/hydrogen-chain/config.yaml examples/hydrogen-chain/expect examples/hydrogen-chain/h4.txt \
	examples/hur/README.md examples/hur/config.yaml examples/hur/expect examples/hur/hur.qcnn \
	examples/ising/README.md examples/ising/config.yaml examples/ising/expect examples/ising/ising.qcnn \
	examples/iris/README.md examples/iris/config.yaml examples/iris/expect examples/iris/iris.csv examples/iris/iris.qcnn examples/iris/tutorial.qcnn \
	examples/pixels/README.md examples/pixels/config.yaml examples/pixels/expect examples/pixels/pixels.qcnn \
	examples/quanvolution/README.md examples/quanvolution/config.yaml examples/quanvolution/digits-images-idx3-ubyte.gz examples/quanvolution/digits-labels-idx1-ubyte.gz \
	examples/quanvolution/expect examples/quanvolution/quanvolution.qcnn
