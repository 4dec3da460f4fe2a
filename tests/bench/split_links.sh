#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# split_links.sh [QCNN [RUNS]]: prints tests/bench/split_links.rows, what calls with split states take over slow links, beside what plans predict
# (default: ./qcnn, 5 runs of each, of which the fastest counts). Each rank has one thread, and a network namespace whose
# link sends at a rate that tbf holds. Needs unshare and nsenter of util-linux, ip, tc, and to be root or to be allowed user namespaces.
set -eu
if [ -z "${SPLIT_LINKS:-}" ]; then
	SPLIT_LINKS=$(mktemp -d)
	export SPLIT_LINKS
	trap 'rm -rf "$SPLIT_LINKS"' EXIT
	unshare -rn sh "$0" "$@"
	exit
fi
qcnn=$(command -v "${1:-./qcnn}")
runs=${2:-5}
work=$SPLIT_LINKS
OMP_NUM_THREADS=1
export OMP_NUM_THREADS
processors=$(nproc --all)

# ---- namespaces on a bridge, one for each rank ----

ranks_max=16
ip link add bridge type bridge
ip link set bridge up
k=0
while [ $k -lt $ranks_max ]; do
	unshare -n sleep 100000 &
	echo $! >"$work/n$k"
	k=$((k + 1))
done
trap 'for f in "$work"/n*; do kill "$(cat "$f")"; done' EXIT
k=0
while [ $k -lt $ranks_max ]; do
	pid=$(cat "$work/n$k")
	until [ "$(readlink "/proc/$pid/ns/net")" != "$(readlink /proc/self/ns/net)" ]; do sleep 0.05; done
	ip link add "port$k" type veth peer name link0 netns "$pid"
	ip link set "port$k" master bridge up
	nsenter -t "$pid" -n sh -c "ip link set lo up; ip addr add 10.9.9.$((k + 1))/24 dev link0; ip link set link0 up"
	k=$((k + 1))
done
cat >"$work/agent" <<END
#!/bin/sh
host=\$1
shift
exec nsenter -t "\$(cat "$work/\$host")" -n sh -c "\$*"
END
chmod +x "$work/agent"

# rate MBIT: of every link
rate() {
	for f in "$work"/n*; do
		nsenter -t "$(cat "$f")" -n tc qdisc replace dev link0 root tbf rate "$1mbit" burst 128kb limit 16mb
	done
}

# ---- a row ----

# Of a link of 1 Mbit/s, GB/s that are not headers: 1448 of 1514 bytes of a packet.
payload=0.0001195

# limits RANKS: of one rank, which shares the processors with others.
limits() {
	"$qcnn" compile --emit=plan --measure "$work/model.qcnn" | awk -v ranks="$1" -v processors="$processors" '
		/^limits/ { share = ranks > processors ? processors / ranks : 1
			for (k = 1; k < NF; k++) { if ($k == "stream") s = $(k + 1); if ($k == "write") w = $(k + 1); if ($k == "L2") l = $(k + 1); if ($k == "multiply-add") f = $(k + 1) }
			printf "stream=%g,write=%g,l2=%g,single=%g\n", s * share, w * share, l * share, f * share }'
}

# row NAME RANKS MBIT PASS BENCH-OPTIONS...
row() {
	name=$1 ranks=$2 mbit=$3 pass=$4
	shift 4
	"$qcnn" bench "$@" --show >"$work/model.qcnn"
	gradient=--gradient forward=
	[ "$pass" = gradient ] || gradient='' forward=--forward
	hosts=local
	k=1
	while [ $k -lt "$ranks" ]; do hosts=$hosts,n$k k=$((k + 1)); done
	rate "$mbit"
	# shellcheck disable=SC2086
	measured=$(nsenter -t "$(cat "$work/n0")" -n "$qcnn" bench "$@" $gradient --ranks="$ranks" --threads=1 --no-limits --runs="$runs" --json \
		--hosts=$hosts --launcher="exec:$work/agent" --iface=link0 | tr ',' '\n' | sed -n 's/.*"min": \([0-9.e-]*\).*/\1/p' | head -1)
	link=$(awk -v m="$mbit" -v p=$payload 'BEGIN { printf "%g,100", m * p }')
	# shellcheck disable=SC2086
	"$qcnn" compile --emit=plan --optimizations=none --no-pass=cone $forward --ranks="$ranks" --link="$link" --machine="$(limits "$ranks")" "$work/model.qcnn" |
		awk -v name="$name" -v ranks="$ranks" -v mbit="$mbit" -v pass="$pass" -v measured="$measured" '
		function seconds(s) { return sprintf("%.3g s", s) }
		(pass == "forward" ? /^  forward .* to send/ : /^  with gradient .* to send/) {
			for (k = 1; k <= NF; k++) { if ($k == "of" && $(k + 1) ~ /^computing/) compute = $(k - 2); if ($k == "send") send = $(k - 3) }
			all = pass == "forward" ? $2 : $3
			printf "| %s | %d | %s | %d Mbit/s | %s | %s | %s | %s | %.2f |\n", name, ranks, pass, mbit, seconds(compute), seconds(send), seconds(all),
				seconds(measured), measured / all; exit }'
}

row "QCNN, 22 qubits" 2 50 forward --circuit=qcnn --qubits=22
row "QCNN, 22 qubits" 2 50 gradient --circuit=qcnn --qubits=22
row "three entangling layers, 22 qubits" 2 50 forward --circuit=sel --layers=3 --qubits=22
row "QCNN, 22 qubits" 4 50 forward --circuit=qcnn --qubits=22
row "QCNN, 22 qubits" 4 50 gradient --circuit=qcnn --qubits=22
row "three entangling layers, 22 qubits" 4 50 forward --circuit=sel --layers=3 --qubits=22
row "QCNN, 22 qubits" 8 20 forward --circuit=qcnn --qubits=22
row "one entangling layer, 22 qubits" 8 20 gradient --circuit=sel --qubits=22
row "QCNN, 22 qubits" 16 5 forward --circuit=qcnn --qubits=22
row "QCNN, 22 qubits" 16 10 gradient --circuit=qcnn --qubits=22
row "QCNN, 24 qubits" 2 500 forward --circuit=qcnn --qubits=24
row "QCNN, 24 qubits" 2 500 gradient --circuit=qcnn --qubits=24
row "QCNN, 24 qubits" 2 1000 forward --circuit=qcnn --qubits=24
row "QCNN, 24 qubits" 2 1000 gradient --circuit=qcnn --qubits=24
