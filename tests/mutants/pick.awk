# SPDX-License-Identifier: Apache-2.0
# Picks random one-line mutants of C sources: awk -v count=N -v seed=S -v folders='A B ...' -f pick.awk FILE...
# One line a mutant, separated by tabs: index, folder, file, line number, operator, the line before, the line after, function.
# The choice is a function of the seed, the index and the sources; a larger count keeps the mutants of a smaller one.

# The line with its comments removed and the text of its strings blanked, of the same length up to the comment.
function code_of(line,    n, i, c, out, quote) {
	n = length(line)
	out = ""
	quote = ""
	for (i = 1; i <= n; i++) {
		c = substr(line, i, 1)
		if (in_comment) {
			if (substr(line, i, 2) == "*/") { in_comment = 0; out = out " "; i++ }
			out = out " "
		} else if (quote != "") {
			if (c == "\\") { out = out " "; i++; c = " " }
			else if (c == quote) quote = ""
			else c = " "
			out = out c
		} else if (substr(line, i, 2) == "/*") {
			in_comment = 1; out = out "  "; i++
		} else if (substr(line, i, 2) == "//") {
			break
		} else {
			if (c == "\"" || c == "'") quote = c
			out = out c
		}
	}
	sub(/[ \t]+$/, "", out)
	return out
}

# Position of the bracket that closes the one at `from`, 0 if it is not in the text.
function closing(text, from,    i, c, depth) {
	for (i = from; i <= length(text); i++) {
		c = substr(text, i, 1)
		if (c == "(") depth++
		if (c == ")" && --depth == 0) return i
	}
	return 0
}

function balanced(text,    i, c, depth) {
	for (i = 1; i <= length(text); i++) {
		c = substr(text, i, 1)
		if (c == "(" || c == "[") depth++
		if (c == ")" || c == "]") depth--
		if (depth < 0) return 0
	}
	return depth == 0
}

# Candidate: `length` characters of `line` from `at` become `text`.
function candidate(line, at, length_, text, name) {
	ncandidate++
	after[ncandidate] = substr(line, 1, at - 1) text substr(line, at + length_)
	operator[ncandidate] = name
}

function is_binary(code, at,    before) {
	before = substr(code, 1, at - 1)
	sub(/ +$/, "", before)
	if (before ~ /(^|[^A-Za-z0-9_])(return|case)$/) return 0
	return before ~ /[A-Za-z0-9_)\]]$/
}

function number(line, code, at,    token, digits, suffix) {
	match(substr(code, at), /^[A-Za-z0-9_.]+/)
	token = substr(code, at, RLENGTH)
	if (token ~ /^[0-9][0-9.]*[eE]$/) return length(token) + 1 + match(substr(code, at + length(token) + 1), /[^0-9]/)
	if (token ~ /^(0|[1-9][0-9]*)[uUlL]*$/) {
		digits = token; sub(/[uUlL]+$/, "", digits)
		suffix = substr(token, length(digits) + 1)
		if (length(digits) < 10) {
			candidate(line, at, length(token), (digits + 1) suffix, "constant")
			if (digits > 0) candidate(line, at, length(token), (digits - 1) suffix, "constant")
		}
	} else if (token ~ /^[0-9]+\.[0-9]*f?$/)
		candidate(line, at, length(token), "(" token " + 1)", "constant")
	return length(token)
}

function word(line, code, at, loop,    token) {
	match(substr(code, at), /^[A-Za-z0-9_]+/)
	token = substr(code, at, RLENGTH)
	if (token == "true") candidate(line, at, 4, "false", "true/false")
	if (token == "false") candidate(line, at, 5, "true", "true/false")
	if (token == "break") candidate(line, at, 5, "continue", "break/continue")
	if (token == "continue") candidate(line, at, 8, "break", "break/continue")
	return length(token)
}

# Operators and words from `from` on.
function tokens(line, code, from,    i, c, two, three, loop, previous) {
	loop = code ~ /(^|[^A-Za-z0-9_])for \(/
	for (i = from; i <= length(code); ) {
		c = substr(code, i, 1); two = substr(code, i, 2); three = substr(code, i, 3)
		if (three == "<<=" || three == ">>=") i += 3
		else if (two == "->") i += 2
		else if (two in swap2) {
			if (!(loop && (two == "++" || two == "--"))) candidate(line, i, 2, swap2[two], name2[two])
			i += 2
		} else if (c ~ /[0-9]/) i += number(line, code, i)
		else if (c ~ /[A-Za-z_]/) i += word(line, code, i)
		else {
			if (c == "!") candidate(line, i, 1, "", "not")
			else if ((c == "<" || c == ">") && substr(code, i - 1, 1) == " ") candidate(line, i, 1, c "=", "comparison")
			else if ((c == "+" || c == "-") && is_binary(code, i)) candidate(line, i, 1, c == "+" ? "-" : "+", "arithmetic")
			else if (index("*/%&|", c) && substr(code, i - 1, 3) == " " c " " && is_binary(code, i)) candidate(line, i, 1, swap1[c], "arithmetic")
			i++
		}
	}
}

function condition(line, code,    at, end, rest) {
	at = match(code, /^(} )?(else )?if \(/)
	if (!at) return
	at = RLENGTH
	end = closing(code, at)
	rest = substr(code, end + 1)
	if (end && (rest == "" || rest == " {"))
		candidate(line, at + 1, end - at - 1, "!(" substr(line, at + 1, end - at - 1) ")", "condition")
}

# Not of calls that only give memory back: what that breaks is for the leak sanitizer to find.
function statement(line, code) {
	if (code ~ /^[a-z0-9_]*(free|release|close|destroy)\(/) return
	if (code ~ /^(return|goto|break|continue|case|default|else|if|for|while|do|switch|typedef|va_end|va_start)([^A-Za-z0-9_]|$)/) return
	if (code !~ /^[A-Za-z_(*+-].*;$/ || !balanced(code) || !complete) return
	if (index(substr(code, 1, length(code) - 1), ";")) return
	candidate(line, 1, length(code), ";", "statement")
}

function mutants_of(line, code,    from) {
	ncandidate = 0
	if (code == "" || code ~ /^[#{}]$/ || code ~ /^#/ || index(line, "\t")) return
	if (code ~ /(^|[^A-Za-z0-9_])(assert|static_assert|_Static_assert|BUG)\(/) return
	if (code ~ /^[a-z_0-9]+:$/) return
	from = 1
	if (code ~ declaration) {
		from = match(code, /[^=!<>]=[^=]/) + 2
		if (from == 2) return
	} else {
		condition(line, code)
		statement(line, code)
		if (code ~ /^return [^;]*;$/ && code !~ /^return (-?[0-9]+|true|false|NULL);$/ )
			candidate(line, 1, length(code), "return 0;", "return")
	}
	tokens(line, code, from)
}

function mix(x,    k) {
	for (k = 1; k <= 4; k++) x = (x * x + 48271 * x + 7919 * k) % prime
	return x
}
function hash(a, b, c) { return mix((mix((mix((a % prime) + 1) + b) % prime) + c) % prime) }

function folder_of(file,    i, best) {
	best = ""
	for (i = 1; i <= nfolder; i++)
		if (index(file, folder[i] "/") == 1 && length(folder[i]) > length(best)) best = folder[i]
	return best
}

BEGIN {
	prime = 67108859
	nfolder = split(folders, folder, " ")
	split("<= < >= > == != != == && || || && << >> >> << += -= -= += *= /= /= *= |= &= &= |= ++ -- -- ++", pairs, " ")
	for (i = 1; i in pairs; i += 2) { swap2[pairs[i]] = pairs[i + 1]; name2[pairs[i]] = "arithmetic" }
	split("<= >= == !=", pairs2, " ")
	for (i = 1; i in pairs2; i++) name2[pairs2[i]] = "comparison"
	name2["&&"] = name2["||"] = "and/or"
	swap1["*"] = "/"; swap1["/"] = "*"; swap1["%"] = "/"; swap1["&"] = "|"; swap1["|"] = "&"
	declaration = "^(static|const|struct|enum|union|unsigned|signed|int|long|short|char|bool|double|float|real|cplx|vec|void|idx" \
		"|[a-z0-9_]+_t|FILE|DIR|va_list|json_t|extern) "
}

FNR == 1 { in_comment = in_body = in_macro = 0; complete = 1; where = folder_of(FILENAME) }
{
	code = code_of($0)
	match($0, /^[ \t]*/); text = substr($0, RLENGTH + 1); indent = RLENGTH
	match(code, /^[ \t]*/); code = substr(code, RLENGTH + 1)
	after_comment = RLENGTH > indent
	macro = in_macro || code ~ /^#/
	in_macro = macro && $0 ~ /\\$/
	if ($0 ~ /^}/) in_body = 0
	if (in_body && where != "" && !macro && !after_comment) {
		mutants_of(text, code)
		if (ncandidate > 0) {
			n = ++nline[where]
			line_file[where, n] = FILENAME; line_number[where, n] = FNR
			line_function[where, n] = name_of_function
			line_text[where, n] = text; line_code[where, n] = code; line_complete[where, n] = complete
		}
	}
	if ($0 == "{") in_body = 1
	if (!in_body && match(code, /[A-Za-z_0-9]+\(/) && indent == 0) name_of_function = substr(code, RSTART, RLENGTH - 1)
	if (code != "" && !macro)
		complete = code ~ /[;{}:]$/ || code ~ /(^|[^A-Za-z0-9_])else$/ || (code ~ /^(} )?(else )?(if|for|while) \(.*\)$/ && balanced(code))
}

# The folder that lacks most of its share; the kernels, which take long to compile, have at most a tenth.
function next_folder(i,    f, name, lack, most, best) {
	best = ""
	for (f = 1; f <= nfolder; f++) {
		name = folder[f]
		if (!nline[name]) continue
		lack = weight[name] * i - picked[name]
		if (best == "" || lack > most) { most = lack; best = name }
	}
	return best
}

END {
	for (f = 1; f <= nfolder; f++) total += nline[folder[f]]
	if (!total) exit
	for (f = 1; f <= nfolder; f++) weight[folder[f]] = nline[folder[f]] / total
	if (weight["runtime/exec/statevector/cpu"] > 0.1 && nfolder > 1) weight["runtime/exec/statevector/cpu"] = 0.1
	for (i = 1; i <= count; i++) {
		name = next_folder(i)
		picked[name]++
		for (try = 0; try < 100; try++) {
			n = 1 + hash(seed, i, 2 * try) % nline[name]
			complete = line_complete[name, n]
			mutants_of(line_text[name, n], line_code[name, n])
			c = 1 + hash(seed, i, 2 * try + 1) % ncandidate
			if (!((name, n, c) in taken)) break
		}
		taken[name, n, c] = 1
		printf "%d\t%s\t%s\t%d\t%s\t%s\t%s\t%s\n", i, name, line_file[name, n], line_number[name, n], operator[c],
			line_text[name, n], after[c], line_function[name, n]
	}
}
