# SPDX-License-Identifier: Apache-2.0
# What folders may know of each other: every include is one that the table allows. And how many files they hold.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"

# folder: what it may include besides itself (a folder without those below it that have a row, or one file). `any` is
# everything. Deeper folders come first; a folder without a row has that of the one above.
cat >arrows <<'END'
lang:            runtime/base
compiler/passes:    compiler compiler/elaborate runtime/base
compiler/elaborate: compiler lang runtime/program runtime/base
compiler/asm:       compiler runtime/program runtime/base
compiler/import:    compiler runtime/base
compiler/export:    compiler lang runtime/program runtime/base
compiler/draw:      runtime/program runtime/base
compiler:        lang runtime/program runtime/base
runtime/base:
runtime/program: lang/gates.h lang/gates.def runtime/base
runtime/exec/statevector: runtime/exec runtime/program lang/gates.h lang/gates.def runtime/base
runtime/exec/basis:       runtime/exec runtime/exec/statevector runtime/program lang/gates.h lang/gates.def runtime/base
runtime/exec/tensor:      runtime/exec runtime/program lang/gates.h lang/gates.def runtime/base
runtime/exec:    runtime/program lang/gates.h lang/gates.def runtime/base
runtime/train/option:
runtime/train/optimizer:  runtime/train/option runtime/program runtime/base
runtime/train/loss:       runtime/train/option runtime/train/optimizer runtime/base
runtime/train/job:        runtime/train/loss runtime/train/optimizer runtime/data runtime/exec runtime/log runtime/base
runtime/train/callback:   runtime/train/job runtime/train/optimizer runtime/train/option runtime/log runtime/base
runtime/train/checkpoint: runtime/train/callback runtime/train/job runtime/train/optimizer runtime/train/weights runtime/base
runtime/train/weights:    runtime/train/keras runtime/data runtime/data/format runtime/program runtime/base
runtime/train/keras:      runtime/program runtime/base
runtime/train:   runtime/train/checkpoint runtime/train/callback runtime/train/job runtime/train/optimizer runtime/program runtime/exec runtime/data runtime/data/format runtime/net runtime/net/protocol/protocol.h runtime/net/scheduler/pool_threads.h runtime/log runtime/base
runtime/data/format:      runtime/data runtime/data/transform runtime/base
runtime/data/generate:    runtime/data runtime/base
runtime/data/transform:   runtime/data runtime/base
runtime/data:    runtime/base
runtime/net/protocol:  runtime/base
runtime/net/comm:      runtime/net/protocol/protocol.h runtime/base
runtime/net/scheduler: runtime/net/protocol/protocol.h runtime/base
runtime/net/launch:    runtime/net/protocol/protocol.h runtime/base
runtime/net/cluster:   runtime/net/scheduler/scheduler.h runtime/net/launch/launch.h runtime/net/launch/own_address.h runtime/net/protocol/protocol.h runtime/base
runtime/net:     runtime/net/launch runtime/net/protocol/protocol.h runtime/base
runtime/log:     runtime/base
cli:             any
tests:           any
END

# Libraries that are used behind one file (or one room) each: header, then who may include it.
# Tests may include any, to check results with other eyes.
cat >libraries <<'END'
yaml.h    cli/
zlib.h    runtime/base/system/inflate runtime/base/system/deflate
jansson.h runtime/base/json
sodium.h  runtime/base/crypto
hdf5.h    runtime/train/keras/keras_h5
nlopt.h   runtime/train/optimizer/search_nlopt
mpi.h     runtime/net/comm/mpi_module
omp.h     runtime/exec/tensor/contract_tmpl runtime/exec/statevector/cpu/ runtime/exec/statevector/cuda/cuda runtime/base/system/cpus
END

# check_tree FOLDER: prints one line per include that is not allowed.
check_tree() {
	(cd "$1" && find lang compiler runtime cli tests -type f \
		\( -name '*.[chly]' -o -name '*.def' -o -name '*.cu' -o -name '*.cuh' \) -print) |
		sort | awk -v tree="$1" '
		function begins(text, start) { return substr(text, 1, length(start)) == start }
		function room_of(path, i) {
			for (i = 1; i <= nroom; i++)
				if (begins(path, room[i] "/")) return room[i]
			return ""
		}
		function library_allowed(file, header, word, n, i) {
			n = split(library[header], word, " ")
			for (i = 1; i <= n; i++) if (begins(file, word[i])) return 1
			return 0
		}
		function arrow_allowed(file, header, from, to, word, n, i) {
			from = room_of(file); to = room_of(header)
			if (from == "") { print file ": no folder of that name"; return 1 }
			if (from == to) return 1
			n = split(may[from], word, " ")
			for (i = 1; i <= n; i++)
				if (word[i] == "any" || header == word[i] || to == word[i] || (!(to in has_row) && begins(header, word[i] "/")))
					return 1
			return 0
		}
		function folder(path) { sub(/[^\/]*$/, "", path); return path }
		FILENAME == "arrows" { split($0, part, /: */); room[++nroom] = part[1]; may[part[1]] = part[2]; has_row[part[1]] = 1; next }
		FILENAME == "libraries" { header = $1; $1 = ""; library[header] = $0; next }
		{
			file = $0
			while ((getline line < (tree "/" file)) > 0) {
				if (line !~ /^[ \t]*#[ \t]*include[ \t]*[<"]/) continue
				quoted = line ~ /include[ \t]*"/
				header = line
				sub(/^[^<"]*[<"]/, "", header); sub(/[>"].*/, "", header)
				if (header in library) {
					if (!begins(file, "tests/") && !library_allowed(file, header)) print file ": includes <" header ">, which is for" library[header]
				} else if (quoted && header != "config.h") {
					if (room_of(header) == "") header = folder(file) header
					if (!arrow_allowed(file, header)) print file ": may not include " header
				}
			}
			close(tree "/" file)
		}' arrows libraries -
}

# The checker itself must see a wrong arrow.
mkdir -p bad/lang bad/compiler bad/runtime/base bad/runtime/program bad/cli bad/tests
echo '#include "compiler/circuit.h"' >bad/lang/scan.l
echo '  #  include "lang/ast.h"' >bad/runtime/program/verify.c
printf '#include "lang/gates.h"\n#include "runtime/base/err.h"\n' >bad/runtime/program/matrix.c
echo '#include <jansson.h>' >bad/compiler/value.c
check_tree "$PWD/bad" >wrong
tap_is "$(cut -d: -f1 wrong | tr '\n' ' ')" "compiler/value.c lang/scan.l runtime/program/verify.c " "wrong arrows are seen"

# What the table allows is a graph without cycles, one folder a node.
sed -n '/any$/!s/:/ /p' arrows | awk '{ for (i = 2; i <= NF; i++) { sub(/\/[^\/]*\.[a-z]*$/, "", $i); if ($i != $1) print $1, $i } }' |
	tsort >order 2>cycles
tap_is "$(cat cycles)" "" "no cycle between folders"
# The same of what is included, also between the folders of cli/, which have no rows.
(cd "$top_srcdir" && grep -r -o '^#include "[a-z_/]*/[a-z_.]*"' lang compiler runtime cli --include='*.[chly]' --include='*.def') |
	sed 's,/[^/:]*:#include ", ,; s,/[^/]*"$,,; s,runtime/exec/statevector/[a-z/]*,runtime/exec/statevector,g' | awk '$1 != $2' | sort -u >included
tsort included >order 2>cycles
tap_is "$(cat cycles)" "" "no cycle between folders that include each other"
check_tree "$top_srcdir" >wrong
tap_is "$(cat wrong)" "" "every include is allowed"


# Instruction sets are detected in cpus.c and known to the cpu backend; tests of its kernels name them. Others ask for targets.
tap_is "$(cd "$top_srcdir" && grep -rl 'enum isa' lang compiler runtime cli tests --include='*.[chly]' |
	grep -v -e '^runtime/base/system/cpus\.' -e '^runtime/exec/statevector/cpu/' | sort | tr '\n' ' ')" \
	"tests/bench/kernels.c tests/kernels/test_counted_bytes.c tests/kernels/test_cpu.c tests/kernels/test_steps.c " \
	"instruction sets are known to the cpu backend and to tests of its kernels"

# Outside a backend, no code asks for a device or a kernel set by name: targets have properties, and come from words of users.
names='"(cpu|cuda|ref|baseline|avx2|avx512)[:"]'
by_name() { grep -rnE "(n?cmp|target_find|target_of|backend_find)\(.*$names" "$@" --include='*.[chly]'; }
mkdir -p named && echo 'if (!strcmp(t->device, "ref"))' >named/x.c
tap_is "$(by_name named | wc -l)" 1 "a comparison with a backend's name is seen"
tap_is "$(cd "$top_srcdir" && by_name lang compiler runtime cli | grep -v '^runtime/exec/statevector/\(cpu\|cuda\|ref\)/')" "" \
	"no code outside a backend asks for devices or kernel sets by their names"

# Outside the CUDA backend only tables, words of users and probes of the build name it: other code has no types or functions of it.
cuda_named() { grep -rnE "\bcuda_[a-z]|[^a-z]cuda/" "$@" --include='*.[chly]'; }
mkdir -p declared && echo 'struct cuda_link *link;' >declared/x.h
tap_is "$(cuda_named declared | wc -l)" 1 "a type of the CUDA backend is seen"
tap_is "$(cd "$top_srcdir" && cuda_named lang compiler runtime cli | grep -v '^runtime/exec/statevector/cuda/')" "" \
	"no code outside the CUDA backend has its types or functions"

# A folder that a newcomer can read the names of.
tap_is "$(cd "$top_srcdir" && find lang compiler runtime cli -type f \
	\( -name '*.[chly]' -o -name '*.def' -o -name '*.cu' -o -name '*.cuh' -o -name '*.mk' \) |
	sed 's,/[^/]*$,,' | sort | uniq -c | awk '$1 > 45 { print $2 ": " $1 }')" "" "no folder has more than 45 files"
tap_done
