# SPDX-License-Identifier: Apache-2.0
# The table of `make check-mutants` from its log; the last result of a mutant counts. Mutants that the file `equivalents`
# names (file, function, line before, line after, reason; separated by tabs) count as equivalent when they survive.
BEGIN {
	while ((getline text < equivalents) > 0) {
		if (text ~ /^#/ || split(text, part, "\t") < 5) continue
		equivalent[part[1], part[2], part[3], part[4]]
	}
}
!($1 in result) { order[++n] = $1 }
{ result[$1] = $0 }
END {
	for (i = 1; i <= n; i++) {
		split(result[order[i]], r, "\t")
		f = r[2]; verdict = r[8]
		if (!(f in tried)) folder[++nfolder] = f
		if (verdict == "gone" || verdict == "not built") continue
		if (verdict == "survived" && (r[3], r[11], r[6], r[7]) in equivalent) verdict = "equivalent"
		if (verdict == "survived" && again)
			printf "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", r[1], r[2], r[3], r[4], r[5], r[6], r[7], r[11]
		if (verdict == "survived") survivors = survivors sprintf("%s %s:%s %s (%s)\n  - %s\n  + %s\n", r[1], r[3], r[4], r[11], r[5], r[6], r[7])
		tried[f]++
		number[f, verdict]++
		tried["all"]++
		number["all", verdict]++
	}
	if (again) exit
	if (survivors != "") printf "survivors:\n%s", survivors
	folder[++nfolder] = "all"
	printf "%-18s %6s %12s %9s %10s %6s %8s %6s\n", "folder", "tried", "not compiled", "same code", "equivalent", "killed", "survived", "score"
	for (i = 1; i <= nfolder; i++) {
		f = folder[i]
		judged = number[f, "killed"] + number[f, "survived"]
		score = judged ? 100 * number[f, "killed"] / judged : 100
		printf "%-18s %6d %12d %9d %10d %6d %8d %5.1f%%\n", f, tried[f], number[f, "not compiled"], number[f, "same code"],
			number[f, "equivalent"], number[f, "killed"], number[f, "survived"], score
	}
	exit score < goal
}
