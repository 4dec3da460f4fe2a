# SPDX-License-Identifier: Apache-2.0
# Lines of the table Growth from three tables of qcnn bench --csv: with --parts, of single samples, of all sizes.
# caches: bytes of L1, L2, L3.

function text(seconds) {
	return seconds >= 1e-3 ? sprintf("%.3g ms", 1e3 * seconds) : sprintf("%.3g µs", 1e6 * seconds)
}

# The caches that states are beyond.
function level(bytes, k) {
	for (k = ncache; k > 0; k--)
		if (bytes > cache[k])
			return k
	return 0
}

# Why n qubits take so much more or less than the number before.
function reason(ratio, n, now, floor_now) {
	if (ratio < 1.5 && ratio > 1 / 1.5)
		return ""
	if (now != before)
		return now > before ? "a unit of work is beyond L" now : "a unit of work is within L" now + 1 " again"
	if ((n in kernels) && (n - 1 in kernels))
		return sprintf("kernels are %.0f %% of the time, %.0f %% before; the rest is the same for each sample", kernels[n], kernels[n - 1])
	if (floor_now / floor_before > 1.2 || floor_now / floor_before < 1 / 1.2)
		return sprintf("the floor of the plan is %.2f times that before", floor_now / floor_before)
	return "not explained by a limit"
}

BEGIN { ncache = split(caches, cache, " ") }
{ gsub(/"/, "") }
FNR == 1 { file++; for (i = 1; i <= NF; i++) at[$i] = i; next }
{ n = $at["qubits"]; seconds = $at["seconds_median"] }
file == 1 {
	all = 0
	for (name in at)
		if (name ~ /^parts_seconds/ && name !~ /slopes|_forward|_backward|_combine|_reduce|_wait$/)
			all += $at[name]
	kernels[n] = 100 * $at["parts_seconds_states"] / all
}
file == 2 { single[n] = seconds }
file == 3 {
	scale = 1e9 / 2 ^ n / $at["batch"] / $at["gates"]
	ratio = last ? seconds * scale / last : 1
	now = level($at["unit_bytes"])
	printf "| %d | %d | %s | %d | %.3g | %s | %.0f %% | %s | %s |\n", n, $at["batch"], $at["shape"], $at["passes"], seconds * scale,
		last ? sprintf("%.2f", ratio) : "-", 100 * $at["share_of_floor"], (n in single) ? text(single[n]) : "-",
		last ? reason(ratio, n, now, $at["floor_seconds"] * scale) : ""
	last = seconds * scale
	before = now
	floor_before = $at["floor_seconds"] * scale
}
