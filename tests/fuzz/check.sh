# SPDX-License-Identifier: Apache-2.0
# Bytes of libFuzzer for all that reads files and messages, in a build of clang with its sanitizers; `make check-fuzz` runs it in the folder of the
# build. Sources are in fuzz/src, as they are shipped; FUZZ_READERS names readers, all by default; fuzz/corpus keeps what was found.
set -e
seconds=${FUZZ_SECONDS:-60}
libraries='libcli.a libtrain.a liblog.a libdata.a libcompiler.a liblang.a libexec.a libnet.a libprogram.a libbase.a'
flags='-g -O1 -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined'
needs() { echo "check-fuzz needs clang with libFuzzer and its OpenMP: see $1" >&2; exit 1; }

mkdir -p fuzz/build fuzz/found
cd fuzz/build
[ config.status -nt ../src/configure ] || ../src/configure -q --enable-cuda=no --with-mpi=no CC=clang CXX=clang++ CFLAGS="$flags" || needs fuzz/build/config.log
${MAKE:-make} -s -j "${CHECK_JOBS:-2}" $libraries
for program in fuzz_readers fuzz_wire; do
	clang $flags -fsanitize=fuzzer -fopenmp -D_GNU_SOURCE -I. -I../src -o $program ../src/tests/fuzz/$program.c \
		-Wl,--start-group $libraries -Wl,--end-group -lyaml -ljansson -lsodium -lz -lm -ldl || needs "the messages above"
done
cd ../..

# seed READER FILE...: texts and data to begin with.
seed() {
	mkdir -p "fuzz/corpus/$1"
	to=fuzz/corpus/$1
	shift
	for text in "$@"; do
		[ ! -f "$text" ] || cp "$text" "$to/$(cksum <"$text" | tr ' ' -)"
	done
}
top=fuzz/src
seed model $top/examples/*/*.qcnn $top/tests/lang/front/*.qcnn $top/tests/lang/models/*.qcnn
seed openqasm $top/tests/lang/openqasm/*.qasm $top/tests/lang/front/*.qasm
seed config $top/examples/*/*.yaml
seed csv $top/examples/*/*.csv
for f in $top/examples/*/*.qcnn; do
	for kind in asm bytecode; do
		./qcnn compile -q --emit=$kind -o fuzz/seed $f && seed $kind fuzz/seed
	done
done
for f in cluster hydrogen iris; do
	./qcnn train -q --set=log.dir=fuzz/runs --set=train.epochs=2 $top/examples/$f/config.yaml
done
seed weights fuzz/runs/[a-z]*-*/weights.bin fuzz/runs/[a-z]*-*/state.bin
seed history fuzz/runs/[a-z]*-*/metrics.jsonl
for f in fuzz/runs/iris-*/weights.bin; do
	./qcnn weights convert -q $f fuzz/runs/w.npz && seed npz fuzz/runs/w.npz
	./qcnn infer -q -o fuzz/runs/o.npy $f >/dev/null && seed npy fuzz/runs/o.npy
done
./qcnn profile -q --steps=1 --level=matrices -o fuzz/runs/profile $top/examples/cluster/config.yaml >/dev/null
seed profile fuzz/runs/profile/profile.json
seed pauli_sum $top/examples/hydrogen-chain/h4.txt
rm -rf fuzz/runs fuzz/seed
printf '2\n0 h 0\n1 cnot 0 1\n2 rz 1 0.3\n3 c 0 x 1\n' >fuzz/seed && seed qsim fuzz/seed
printf '\0\0\10\1\0\0\0\3\1\2\3' >fuzz/seed && seed idx fuzz/seed
printf '[{"inputs":1,"kind":"min_max","outputs":1,"values":[0.1,1.5,0]}]' >fuzz/seed && seed transform fuzz/seed
printf '0.17 ZZIIXIII\n-0.3 XXYZIIII\n' >fuzz/seed && seed pauli_sum fuzz/seed
printf '0.17 * (Z(0) @ Z(1)) + 0.04 * Y(2)\n' >fuzz/seed && seed pauli_sum fuzz/seed
printf '1 0 0 0\n0 1 0 0\n0 0 0 (0-1j)\n0 0 (0+1j) 0\n' >fuzz/seed && seed hermitian fuzz/seed && seed gate fuzz/seed
sed -n -e 's/^KEYWORD([A-Z_0-9]*, *"\([^"]*\)".*/"\1"/p' -e 's/^GATE([0-9]*, [A-Z_0-9]*, "\([^"]*\)".*/"\1"/p' $top/lang/tokens.def $top/lang/gates.def >fuzz/words
printf '"%s"\n' 9223372036854775807 -9223372036854775807-1 4294967295 >>fuzz/words

status=0
for reader in ${FUZZ_READERS:-wire $(FUZZ_READER=list fuzz/build/fuzz_readers)}; do
	words= program=fuzz_readers
	case $reader in model | openqasm | asm) words=-dict=fuzz/words ;; wire) program=fuzz_wire ;; esac
	mkdir -p "fuzz/corpus/$reader"
	if FUZZ_READER=$reader fuzz/build/$program -max_len=16384 -timeout=60 -rss_limit_mb=4096 -max_total_time="$seconds" \
		-artifact_prefix="fuzz/found/$reader-" $words "fuzz/corpus/$reader" >fuzz/$reader.log 2>&1; then
		echo "$reader: $(tail -n 1 fuzz/$reader.log)"
	else
		echo "$reader: FAILED, see fuzz/$reader.log and fuzz/found"
		status=1
	fi
done
exit $status
