# SPDX-License-Identifier: Apache-2.0
# What the machine code of kernels has, one measure a line: KERNEL, PRECISION, MEASURE, VALUE, with tabs between.
#
# Reads sources (*.cu, for the lines that tell regions apart), what `cuobjdump --dump-resource-usage` prints, and what
# `nvdisasm -gi` prints of a cubin with line numbers.
#
# A region is the code of an op that has one matrix for all samples and no controls in registers. Forward it is measured by the
# size of the matrix, in those cases of the switch over the op's target bits that share no code with others; backward as a whole.

function kernel_of(symbol) { # _Z13stage_forwardIfLi4EEv15cuda_stage_args
	sub(/^_Z[0-9]+/, "", symbol)
	precision = symbol ~ /Id/ ? "double" : "single"
	sub(/I[fd].*/, "", symbol)
	return symbol "\t" precision
}

function bits(mask, n) {
	for (n = 0; mask; mask = int(mask / 2))
		n += mask % 2
	return n
}

# ---- sources ----
FILENAME ~ /\.cu$/ {
	place = FILENAME
	sub(/.*\//, "", place)
	place = place "\", line " FNR
	if ($0 ~ /by_targets<false, N>/)
		one_matrix[place]
	if ($0 ~ /^[ \t]+make_factors\(/)
		losses[place]
	if (match($0, /CASE\([0-9]+\);/))
		size[place] = 2 ^ bits(substr($0, RSTART + 5, RLENGTH - 7))
	next
}

# ---- resources ----
$1 == "Function" { kernel = kernel_of(substr($2, 1, length($2) - 1)); next }
$1 ~ /^REG:/ {
	for (k = 1; k <= NF; k++) {
		split($k, part, ":")
		if (part[1] == "REG")
			print kernel "\tregisters\t" part[2]
		if (part[1] == "STACK")
			print kernel "\tbytes of stack\t" part[2]
		if (part[1] == "LOCAL")
			print kernel "\tbytes of local memory\t" part[2]
	}
	next
}

# ---- instructions ----
/^[ \t]*\.section[ \t]+\.text\./ {
	name = $2
	sub(/^\.text\./, "", name)
	sub(/,.*/, "", name)
	kernel = kernel_of(name)
	kernels[kernel]
	division = 0
	next
}
/^\$__internal_.*_div_/ { division = 1 }

# Where the code comes from: the innermost line first, then those that it is inlined at.
/^[ \t]*\/\/## File / {
	if (!same) {
		case_line = one = ""
		same = 1
		loss = 0
	}
	text = $0
	while (match(text, /[^"\/]*", line [0-9]+/)) {
		line = substr(text, RSTART, RLENGTH)
		if (line in one_matrix)
			one = line
		if (line in size)
			case_line = line
		if (line in losses)
			loss = 1
		text = substr(text, RSTART + RLENGTH)
	}
	next
}

/^[ \t]*\/\*[0-9a-f]+\*\/ / {
	same = 0
	op = $2 ~ /^@/ ? $3 : $2
	sub(/;$/, "", op)
	split(op, part, ".")
	class = part[1]
	if (class ~ /^(LDL|STL)$/)
		local[kernel]++
	if (class ~ /^(LDG|STG)$/) {
		wide = op ~ /\.128/
		# Sums are set to 0 by stores past the first cache: they are STRONG.
		if (class == "STG" ? op !~ /[.]STRONG/ : op ~ /\.EF/)
			access[kernel, class, wide]++
		narrow[kernel] += op !~ /\.(64|128)/
	}
	# Gradients of a loss, whose divisions have some, are a few numbers of a sample.
	if (loss || division)
		next
	if (class ~ /^[FD](FMA|MUL)$/)
		mads[kernel]++
	if (class == "DMUL" && kernel ~ /single$/)
		mads[kernel]--
	if (op ~ (kernel ~ /single$/ ? "^F2I[.]S64$" : "^F2I[.]S64[.]F64$"))
		conversions[kernel]++
	if (one != "" && case_line != "") {
		used_here = class ~ (kernel ~ /single$/ ? "^F(FMA|MUL)$" : "^D(FMA|MUL)$")
		all[kernel, case_line]++
		used[kernel, case_line] += used_here
		whole_all[kernel]++
		whole_used[kernel] += used_here
	}
}

END {
	for (kernel in kernels) {
		print kernel "\tlocal loads and stores\t" local[kernel] + 0
		if (kernel !~ /^stage_/) {
			print kernel "\tglobal accesses of less than 64 bits\t" narrow[kernel] + 0
			continue
		}
		print kernel "\tstate loads of 128 bits\t" access[kernel, "LDG", 1] + 0
		print kernel "\tstate stores of 128 bits\t" access[kernel, "STG", 1] + 0
		print kernel "\tnarrower state accesses\t" access[kernel, "LDG", 0] + access[kernel, "STG", 0]
		# A sum that becomes an integer is multiplied once more.
		print kernel "\tmultiply-adds\t" mads[kernel] - conversions[kernel]
		if (kernel ~ /^stage_backward/) {
			printf "%s\tpercent multiply-adds\t%.1f\n", kernel, 100 * whole_used[kernel] / whole_all[kernel]
			continue
		}
		for (d = 2; d <= 8; d *= 2) {
			region_all = region_used = 0
			for (line in size)
				if (size[line] == d && used[kernel, line] == 4 * d * (kernel ~ /single$/ ? 16 : 8)) {
					region_all += all[kernel, line]
					region_used += used[kernel, line]
				}
			printf "%s\tpercent multiply-adds, %d x %d\t%.1f\n", kernel, d, d,
				region_all ? 100 * region_used / region_all : 0
		}
	}
}
