# SPDX-License-Identifier: Apache-2.0
# The device cuda without a GPU: messages, and plans, which need none.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"
printf 'QCNN 1;\nqubit[2] q; h q[0]; cx q[0], q[1]; observe z(q[0]);\n' >bell.qcnn

"$QCNN" run --device=cuda bell.qcnn >out 2>err
status=$?
# NCCL and CUPTI can be loaded without a GPU: the real ones, where configure has found them.
"$QCNN" info >info
while read -r name row version; do
	library=$(sed -n "s/^#define QCNN_${name}_LIBRARY \"\(\/.*\)\"/\1/p" "$top_builddir/config.h")
	if [ -e "$library" ]; then
		tap_has info "of GPUs: $name $version" "info has the version of $name"
	elif ! grep -q 'this build has no CUDA' err; then
		tap_ok "info says whether there is $name" grep -q "^$row  *of GPUs: " info
	fi
done <<'END'
NCCL exchange 2.
CUPTI profile
END
if [ $status -eq 0 ]; then
	tap_skip "this machine has a GPU"
elif grep -q 'this build has no CUDA' err; then
	tap_is $status 78 "a build without CUDA"
	tap_has err 'use --device=cpu, or build where configure finds nvcc' "says what to do"
	tap_exit 78 "its plan" "$QCNN" compile --emit=plan --device=cuda bell.qcnn
else
	tap_is $status 78 "a machine without a GPU"
	tap_has err 'the device cuda cannot be used: ' "says so"
	tap_has err '; use --device=cpu' "and what to do"
	tap_exit 0 "a plan for a GPU" "$QCNN" compile --emit=plan --device=cuda bell.qcnn
	tap_has out 'kernels    cuda, single precision' "names the kernels"
	tap_has out 'limits     assumed, a usual GPU: memory 2000 GB/s' "and has times of a usual GPU"
	tap_exit 78 "limits of a GPU are not measured" "$QCNN" compile --emit=plan --measure --device=cuda bell.qcnn
	tap_has err 'limits of a GPU are not measured: without --measure' "says what to do"
fi
tap_done
