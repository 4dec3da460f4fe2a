# SPDX-License-Identifier: Apache-2.0
# Drawings: golden texts, SVG that is well formed, folding, collapsing, expanding, and what is refused.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"
. "$top_srcdir/tests/cli/files.sh"
make_models

cat >wanted <<'END'
       ┌───┐
q[0] ──┤ h ├──●─ ⟨X⟩
       └───┘  │
q[1] ─────────⊕─

⟨z(q[0])*z(q[1])⟩
END
tap_exit 0 "a small circuit" "$QCNN" draw bell.qcnn
tap_same out wanted "gates, controls, observables"
cat >wanted <<'END'
       +---+
q[0] --+ h +--@- <X>
       +---+  |
q[1] ---------X-

<z(q[0])*z(q[1])>
END
tap_exit 0 "--ascii" "$QCNN" draw --ascii bell.qcnn
tap_same out wanted "the same in ASCII"

make_configs
for c in draw compile; do
	tap_exit 0 "$c of a configuration" "$QCNN" $c config.yaml
	cp out of_config
	tap_exit 0 "and of its model" "$QCNN" $c cluster.qcnn
	tap_same out of_config "is the same"
	tap_exit 0 "$c with a constant of the configuration" "$QCNN" $c --set model.const.n=2 config.yaml
	cp out of_config
	tap_exit 0 "and by --const" "$QCNN" $c --const n=2 cluster.qcnn
	tap_same out of_config "is the same"
	tap_exit 2 "$c --set of a model" "$QCNN" $c --set model.const.n=2 cluster.qcnn
	tap_has err 'for a model use --const' "says what to do"
	tap_exit 78 "$c of a wrong configuration" "$QCNN" $c --set model.fill=x config.yaml
	tap_has err 'did you mean `model.file`?' "shows the fault"
done
tap_exit 2 "a pass that is not there" "$QCNN" draw --no-pass=cones bell.qcnn
tap_has err 'no pass is called `cones`' "is told"

cat >all.qcnn <<'END'
QCNN 1;
qubit[3] q;
qubit a;
input float[2] x;
param float[2,3] w;
param float s;
block two(float[2] u) a, b { ry(u[0]) a; cx a, b; rz(u[1]) b; }
rx(pi/2) q[0];
rz(2*x[0]+w[0,1]) q[2];
swap q[0], q[2];
negctrl @ ctrl @ x q[0], q[1], a;
rzx(s) q[0], q[1];
rzz(s) q[0], a;
inv @ two(w[1,0:1]) q[0], q[2];
layer last { param float[2] t; two(t) q[1], q[2]; discard q[1]; }
observe z(q[2]), z(a) - 0.5*x(a), probs(q[0]);
END
tap_exit 0 "many kinds" "$QCNN" draw --width=0 all.qcnn
for text in 'rx(π/2)' 'rz(2*x[0]+w[0,1])' '╳' '○' '⊕' '0         ' '  rzx(s)' 'rzz(s)' 'two†(w[1,0:1])' '─ last[0] ─' 'two(t)' \
	'⟨Z⟩' '⟨-0.5*x(a) + z(a)⟩' '┤ probs │'; do
	tap_has out "$text" "there is $text"
done
tap_exit 0 "as ASCII" "$QCNN" draw --ascii --width=0 all.qcnn
tap_is "$(LC_ALL=C grep -c '[^ -~]' out)" 0 "nothing but ASCII"
tap_exit 0 "--expand" "$QCNN" draw --expand --width=0 all.qcnn
tap_is "$(grep -c 'two' out)" 0 "no block is left"
tap_has out "ry(t[0])" "their gates are there"
tap_has out "ry†(w[1,0])" "inverted where the block is"

cat >measured.qcnn <<'END'
QCNN 1;
qubit[2] q;
gphase(0.2);
param float[2] t;
block u(float t) a { ry(t) a; }
if (measure q[0]) u(t[0]) q[1]; else u(t[1]) q[1];
observe z(q);
END
cat >wanted <<'END'
       ┌─────────────┐  ┌───┐
q[0] ──┤ gphase(0.2) ├──┤ M ├═══════●═════════════○═══════ ⟨Z⟩
       └─────────────┘  └───┘  ┌────┴─────┐  ┌────┴─────┐
q[1] ──────────────────────────┤ ry(t[0]) ├──┤ ry(t[1]) ├─ ⟨Z⟩
                               └──────────┘  └──────────┘
END
tap_exit 0 "a measurement" "$QCNN" draw measured.qcnn
tap_same out wanted "the wire is double behind it"
printf 'QCNN 1;\nqubit q;\nobserve z(q);\n' >empty.qcnn
tap_exit 0 "no gates" "$QCNN" draw empty.qcnn
tap_is "$(cat out)" "q ─ ⟨Z⟩" "a wire"

# Columns: elements that act alike on the rows they share commute, so that a ring of cz needs three; boxes of parallel
# pooling share a column, each with a line of its own; a layer that does not fit begins the next line.
cat >ring.qcnn <<'END'
QCNN 1;
qubit[6] q;
block merge(float t) a, b { ry(t) a; cx a, b; ry(t) b; discard a; }
layer ring { cz on cycle(q); }
layer pool { param float t; merge(t) on zip(q[0:1], q[3:4]); }
layer fold { param float t; merge(t) q[2], q[5]; merge(t) q[3], q[4]; }
observe probs(q[4:5]), z(q[5]);
END
cat >wanted <<'END'
      ┌─ ring[0] ─┐┌─ pool[0] ───────────────────────┐┌─ fold[0] ────────────┐
      ╎           ╎╎            ┌────────────┐       ╎╎                      ╎
q[0] ───●──────●────────────────┤0  merge(t) ├─────┤ ╎╎                      ╎
      ╎ │      │  ╎╎            └┬─┬─────────┴──┐    ╎╎                      ╎
q[1] ───●──●───┼─────────────────┼─┤0  merge(t) ├──┤ ╎╎                      ╎
      ╎    │   │  ╎╎             │ └┬───────────┘    ╎╎ ┌────────────┐       ╎
q[2] ───●──●───┼─────────────────┼──┼───────────────────┤0  merge(t) ├─────┤ ╎
      ╎ │      │  ╎╎ ┌───────────┴┐ │                ╎╎ └┬─┬─────────┴──┐    ╎
q[3] ───●──●───┼─────┤1  merge(t) ├─┼────────────────────┼─┤0           ├──┤ ╎
      ╎    │   │  ╎╎ └──┬─────────┴─┴┐               ╎╎  │ │   merge(t) │    ╎ ┌─────────┐
q[4] ───●──●───┼────────┤1  merge(t) ├───────────────────┼─┤1           ├──────┤0        │
      ╎ │      │  ╎╎    └────────────┘               ╎╎ ┌┴─┴─────────┬──┘    ╎ │   probs │
q[5] ───●──────●────────────────────────────────────────┤1  merge(t) ├─────────┤1        ├─ ⟨Z⟩
      ╎           ╎╎                                 ╎╎ └────────────┘       ╎ └─────────┘
      └───────────┘└─────────────────────────────────┘└──────────────────────┘
END
tap_exit 0 "a ring and pooling" "$QCNN" draw --width=0 ring.qcnn
tap_same out wanted "take few columns"
cat >wanted <<'END'
      ┌─ ring[0] ─┐┌─ pool[0] ───────────────────────┐
      ┌─ fold[0] ────────────┐
END
"$QCNN" draw --width=70 ring.qcnn | grep '─ [a-z]*\[0\] ─' >out
tap_same out wanted "a layer is not cut where it fits into the next line"

tap_exit 0 "--collapse" "$QCNN" draw --collapse=conv --width=0 cluster.qcnn
tap_has out "│ conv[0] │" "the layer is a box"
tap_has out "─ last[0] ─" "the others are not"
"$QCNN" draw --collapse=all --svg=boxes.svg "$top_srcdir/examples/cluster/cluster.qcnn"
tap_is "$(grep -o '"q-layer q-tint[0-9]"' boxes.svg | tr -d '"\n')" "q-layer q-tint4$(for k in 1 2 3; do printf 'q-layer q-tint%s' 0 1; done)" \
	"as an SVG it has the ground of its name, whatever its index"
"$QCNN" draw --svg=filters.svg "$top_srcdir/examples/cluster-three-filters/three-filters.qcnn"
tap_is "$(grep -o '"q-frame q-tint[0-9]"' filters.svg | sort | uniq -c | tr -dc '0-9\n' | tr '\n' ' ')" "30 31 34 " \
	"three circuits have three grounds: of conv, pool and what embeds"
tap_exit 2 "--collapse of nothing" "$QCNN" draw --collapse=conf cluster.qcnn
tap_has err "no layer is called \`conf\`; there are embed[0], conv[0], last[0]" "the layers are named"

# Folding: no line is wider, nothing is lost.
widest() { awk '{ gsub(/[\200-\277]/, ""); if (length > n) n = length } END { print n }' "$1"; }
for w in 40 60 100; do
	LC_ALL=C "$QCNN" draw --width=$w cluster.qcnn >folded
	n=$(LC_ALL=C widest folded)
	[ "$n" -le $w ]
	tap_result $? "--width=$w is kept ($n)"
	tap_is "$(grep -o 'entangle(t)' folded | wc -l | tr -d ' ')" 4 "all boxes are there"
done
COLUMNS=50 "$QCNN" draw cluster.qcnn >folded
tap_is "$(test "$(LC_ALL=C widest folded)" -le 50 && echo kept)" kept "COLUMNS is kept"

tap_exit 0 "--svg" "$QCNN" draw --svg=out.svg all.qcnn
tap_exit 0 "--svg to the standard output" "$QCNN" draw --svg=- all.qcnn
tap_same out out.svg "the same"
if command -v xmllint >/dev/null; then
	tap_ok "well formed" xmllint --noout out.svg
elif command -v python3 >/dev/null; then
	tap_ok "well formed" python3 -c 'import sys, xml.dom.minidom as m; m.parse("out.svg")'
else
	tap_skip "neither xmllint nor python3 to read XML"
fi
tap_is "$(grep -c 'class="q-box"' out.svg)" 9 "its boxes"
tap_is "$(grep -c 'q-frame' out.svg)" 2 "its frame, and the style"
tap_is "$(grep -c -e '<script' -e 'http://[^w]' -e 'xlink' out.svg)" 0 "it needs nothing else"
for operands in 'q[2], q[0]' 'q[1], q[0]'; do
	printf 'QCNN 1;\nqubit[3] q;\nblock f a, b { cx a, b; rx(0.1) a; }\nf %s;\niswap q[0], q[1];\nobserve z(q[0]);\n' "$operands" >operands.qcnn
	"$QCNN" draw --svg=operands.svg operands.qcnn
	tap_is "$(sed -n 's/.*"q-operand".* y="\([0-9.]*\)">\([0-9]*\)<.*/\1 \2/p' operands.svg | sort -n | cut -d ' ' -f 2 | head -n 2 | tr '\n' ' ')" \
		"1 0 " "the numbers of a block's operands, from the top to the bottom: f $operands"
done
tap_has operands.svg '>iswap<' "a gate without a sign of its own has its name"
"$QCNN" draw --svg=wide.svg cluster.qcnn
"$QCNN" draw --svg=narrow.svg --width=400 cluster.qcnn
width() { sed -n 's/^<svg.* width="\([0-9]*\).*/\1/p' "$1"; }
[ "$(width narrow.svg)" -le 400 ] && [ "$(width wide.svg)" -gt 400 ]
tap_result $? "an SVG is folded where asked ($(width narrow.svg) of $(width wide.svg))"

printf 'QCNN 1;\nqubit[1100] q;\nh q;\nobserve z(q);\n' >wide.qcnn
tap_exit 78 "too many wires" "$QCNN" draw wide.qcnn
tap_has err "1100 wires are more than the 1024 that are drawn" "the limit is named"
tap_exit 66 "a missing file" "$QCNN" draw nothing.qcnn
tap_exit 2 "a picture of another format" "$QCNN" draw --svg=b.png bell.qcnn
tap_has err '--svg writes an svg file, but `b.png` names another format: write `b.svg` and convert it' "is refused"
tap_exit 73 "a folder that is not there" "$QCNN" draw --svg=no/where.svg bell.qcnn

# Names beyond the first 65536 characters, as other programs' assembler text may have them.
cat >alpha.asm <<'END'
qcnn_asm 1
inputs
  0 "𝛼" float
exprs
  %0 = input 0
matrices
  m0 1 "rx" {
    rx(%0) 0
  }
circuits
  0 "" wires 1 {
    m0 0
    pauli 1 z0
  }
END
"$QCNN" draw alpha.asm >alpha
tap_has alpha "rx(𝛼)" "a name of four bytes"

# An instance in several places is drawn once, where nothing but its angles differs.
cat >places.qcnn <<'END'
QCNN 1;
input float[4] x;
circuit filter(int at, int gates) {
  qubit[2] q;
  ry(x[at]) q[0];
  for int k in [1:gates] { cx q[0], q[1]; }
  layer mix { param float[2] t;  ry(each t) on q; }
  observe z(q);
}
head (filter(0, 0) f, filter(1, 0) f, filter(2, 0) f, filter(3, 0) g) { dense(1); }
END
"$QCNN" draw --ascii places.qcnn >places
tap_is "$(grep -c ry places)" 4 "one of three and one other are drawn"
tap_has places 'f (3 times; the first is drawn):' "how often is said"
tap_has places 'g:' "and what stands alone"
"$QCNN" draw --svg=places.svg places.qcnn
tap_has places.svg '>f (3 times; the first is drawn)<' "in an SVG too"
"$QCNN" check places.qcnn >check
tap_has check 'circuit   f: 2 qubits, 3 operations, 2 readouts; 3 times' "qcnn check says how often"
sed 's/filter(1, 0) f/filter(1, 1) f/' places.qcnn >differ.qcnn
"$QCNN" draw --ascii differ.qcnn >differ
tap_is "$(grep -c '^f' differ)" 2 "what has other gates is drawn again"

# Long outputs are broken before a sign.
cat >long.qcnn <<'END'
QCNN 1;
qubit[8] q;
let sum = 0;
for int i in [0:6] { sum += 0.125*z(q[i])*z(q[i+1])*x(q[7-i]); }
observe sum;
END
sed 's/x(q\[7-i\])/1/' long.qcnn >sum.qcnn
"$QCNN" draw --svg=long.svg --width=400 sum.qcnn
tap_ok "a long output takes several lines" test "$(grep -c q-note long.svg)" -ge 3
tap_is "$(sed -n 's/.*q-note[^>]*>//p' long.svg | sed 's/<.*//' | tr -d '\n ' | sed 's/[^+]//g')" "++++++" "all its terms are there"

# ---- JSON ----

cat >bell.qcnn <<'END'
QCNN 1;
qubit[2] q;
h q[0];
cx q[0], q[1];
observe z(q[0])*z(q[1]), x(q[0]);
END
tap_exit 0 "draw --json" "$QCNN" draw --json bell.qcnn
tap_has out '"wires": [{"name": "q[0]", "output": "⟨X⟩"}, {"name": "q[1]", "output": null}]' "wires"
tap_has out '{"column": 0, "first": 0, "last": 0, "label": "h", "operands": [], "layer": null, "marks": [{"kind": "box", "first": 0, "last": 0}]}' "a gate"
tap_has out '{"column": 1, "first": 0, "last": 1, "label": null, "operands": [], "layer": null, "marks": [{"kind": "control", "first": 0, "last": 0}, {"kind": "plus", "first": 1, "last": 1}]}' "a gate with a control"
tap_has out '"columns": 2' "their number"
tap_has out '"outputs": ["' "outputs that are on no single wire"
tap_exit 2 "a layer that does not exist" "$QCNN" draw --json --collapse nothing bell.qcnn
tap_exit 2 "--json and --svg" "$QCNN" draw --json --svg x.svg bell.qcnn

# A call of several operations is one box: blocks and gates on four qubits and more, evolve, powers.
cat >wide.qcnn <<'END'
qubit[4] q;
param float[2] t;
block mix(float s) a, b, c, d { cx a, c; ry(s) b; cx b, d; discard d; }
gate cyclic a, b = {{0, 0, 0, 1}, {1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}};
DoubleExcitation(t[0]) q[0], q[2], q[1], q[3];
ctrl @ inv @ pow(3) @ cyclic q[0], q[1], q[2];
evolve(z(q[0])*z(q[1]) + x(q[3]), t[1]);
mix(t[0]) q[3], q[1], q[2], q[0];
observe z(q[1:3]);
END
cat >wanted <<'END'
       ┌──────────────────────────┐                   ┌──────────────┐  ┌─────────────┐
q[0] ──┤0                         ├─────────●─────────┤              ├──┤3            ├──┤
       │                          │  ┌──────┴──────┐  │ evolve(t[1]) │  │             │
q[1] ──┤2                         ├──┤0            ├──┤              ├──┤1            ├──── ⟨Z⟩
       │   DoubleExcitation(t[0]) │  │   cyclic^-3 │  └──────┬───────┘  │   mix(t[0]) │
q[2] ──┤1                         ├──┤1            ├─────────┼──────────┤2            ├──── ⟨Z⟩
       │                          │  └─────────────┘  ┌──────┴───────┐  │             │
q[3] ──┤3                         ├───────────────────┤ evolve(t[1]) ├──┤0            ├──── ⟨Z⟩
       └──────────────────────────┘                   └──────────────┘  └─────────────┘
END
tap_exit 0 "calls of several operations" "$QCNN" draw --width=0 wide.qcnn
tap_same out wanted "each is a box"
tap_exit 0 "with --json" "$QCNN" draw --json wide.qcnn
tap_is "$(grep -o '"label": "[^"]*"' out | cut -d'"' -f4 | tr '\n' ' ')" 'DoubleExcitation(t[0]) cyclic^-3 evolve(t[1]) mix(t[0]) ' "labels"
tap_exit 0 "with --expand" "$QCNN" draw --expand --width=0 wide.qcnn
tap_is "$(grep -cE 'Double|cyclic|evolve|mix' out)" 0 "their gates instead"
tap_exit 0 "as a program" "$QCNN" compile -q -o wide.asm wide.qcnn
tap_exit 0 "that is drawn" "$QCNN" draw --width=0 wide.asm
tap_is "$(grep -cE 'Double|evolve|mix' out)" 0 "by its gates"
# Where gates were removed, a box of all would be wrong.
sed 's/^observe.*/observe z(q[3]);/; s/^mix.*//' wide.qcnn >cone.qcnn
tap_exit 0 "a call without its gates that no output depends on" "$QCNN" draw --width=0 cone.qcnn
tap_is "$(grep -c evolve out)" 0 "has no box"
tap_exit 0 "with all of them" "$QCNN" draw --no-pass=cone --width=0 cone.qcnn
tap_has out evolve "has one"
printf 'qubit q; x q; x q; observe z(q);\n' >undone.qcnn
tap_exit 0 "gates that undo each other" "$QCNN" draw --width=0 undone.qcnn
tap_is "$(grep -o ' x ' out | wc -l)" 2 "are drawn"

tap_done
