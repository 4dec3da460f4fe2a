# SPDX-License-Identifier: Apache-2.0
# The machine code of the kernels for compute capability 9.0: registers, spills, widths of accesses, multiply-adds, as a table.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"
kernels=$top_builddir/runtime/exec/statevector/cuda
[ -e "$kernels/cuda_stage_kernels.cubin" ] || tap_skip_all "no nvcc, or a build without CUDA: there is no machine code"
tools=$(find "$top_builddir/tests/gpu/disassembler" -name nvdisasm -type f -exec dirname {} \; 2>/dev/null | head -n 1)
[ -n "$tools" ] || tap_skip_all "the Python packages nvidia-cuda-nvdisasm and nvidia-cuda-cuobjdump cannot be installed"
PATH=$tools:$PATH

for cubin in "$kernels"/*.cubin; do
	cuobjdump --dump-resource-usage "$cubin" >>usage || tap_note "cuobjdump fails"
	nvdisasm -gi -c "$cubin" >>code || tap_note "nvdisasm fails"
done
awk -f "$top_srcdir/tests/gpu/code.awk" "$top_srcdir"/runtime/exec/statevector/cuda/*.cu usage code >measures

# What each kernel must have; the first line that fits. A multiplication of the n amplitudes of a thread with a matrix d x d is
# 4 n d multiply-adds, the sums of its reduced transition matrix are n (4 d - 2); n is 16, in double precision 8. There are 4
# masks of one target bit, 6 of two, 4 of three (in double precision 3, 3, 1), each once with one matrix for all samples; with one
# for each sample all masks of one bit, one of two and one of three; and diagonal matrices, 4 n for both, with their sums, 2 n. Products of
# Z are 2 n forward, and 2 n back; the backward kernel, which may have the forward pass joined, does both.
# Shares: 8 x 8 in single precision loads 128 numbers, two at a time, for 512 multiply-adds, and can have 88.9 % at most. A
# multiply-add in double precision takes the time of two instructions.
cat >limits <<'END'
stage_forward  | single | registers                    | <= | 64
stage_forward  | double | registers                    | <= | 80
*              | *      | registers                    | <= | 128
*              | *      | bytes of stack               | =  | 0
*              | *      | bytes of local memory        | =  | 0
*              | *      | local loads and stores       | =  | 0
stage_forward  | *      | state loads of 128 bits      | =  | 8
stage_forward  | *      | state stores of 128 bits     | =  | 8
stage_backward | *      | state loads of 128 bits      | =  | 16
stage_backward | *      | state stores of 128 bits     | =  | 16
*              | *      | narrower state accesses      | =  | 0
*              | *      | global accesses of less than 64 bits | = | 0
stage_forward  | single | multiply-adds                | =  | 5536
stage_forward  | double | multiply-adds                | =  | 1488
stage_backward | single | multiply-adds                | =  | 15840
stage_backward | double | multiply-adds                | =  | 4208
stage_forward  | single | percent multiply-adds, 2 x 2 | >= | 90
stage_forward  | single | percent multiply-adds, 4 x 4 | >= | 90
stage_forward  | single | percent multiply-adds, 8 x 8 | >= | 80
stage_forward  | double | percent multiply-adds, 2 x 2 | >= | 70
stage_forward  | double | percent multiply-adds, 4 x 4 | >= | 70
stage_forward  | double | percent multiply-adds, 8 x 8 | >= | 60
stage_backward | single | percent multiply-adds        | >= | 65
stage_backward | double | percent multiply-adds        | >= | 50
END
echo '# | bar | kernel | measured | limit | |'
echo '# |---|---|---|---|---|'
sort measures | awk '
	function judge(k) {
		return limit[k, 4] == "=" ? $4 == limit[k, 5] : limit[k, 4] == "<=" ? $4 <= limit[k, 5] + 0 : $4 >= limit[k, 5] + 0
	}
	function point(good, text) {
		printf "%sok %d - %s\n", good ? "" : "not ", ++points, text
		bad += !good
	}
	FILENAME == "limits" { n++; for (k = 1; k <= 5; k++) limit[n, k] = $k; next }
	{
		for (k = 1; k <= n; k++)
			if ((limit[k, 1] == $1 || limit[k, 1] == "*") && (limit[k, 2] == $2 || limit[k, 2] == "*") && limit[k, 3] == $3)
				break
		seen[k]
		point(k <= n && judge(k), $1 ", " $2 " precision: " $3 " " $4)
		printf "# | %s | %s, %s | %s | %s %s | %s |\n", $3, $1, $2, $4, limit[k, 4], limit[k, 5], judge(k) ? "pass" : "FAIL"
	}
	END {
		for (k = 1; k <= n; k++)
			if (!(k in seen))
				point(0, "nothing was measured: " limit[k, 1] ", " limit[k, 3])
		printf "1..%d\n", points
		exit bad > 0 || !points
	}' FS=' *[|] *' limits FS='\t' -
