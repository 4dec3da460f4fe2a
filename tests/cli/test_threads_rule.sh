#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Which rule sets the number of threads: environment, places, affinity mask, quotas of both versions of cgroups.
# The cgroup is played by files in a mount namespace of the test's own.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"

rule() { "$QCNN" info | sed -n 's/^threads *//p'; }
have=$(nproc)
first=$(taskset -pc $$ | sed 's/.*: *//; s/[-,].*//')
tap_is "$(OMP_NUM_THREADS=3 rule)" "3, by OMP_NUM_THREADS" "OMP_NUM_THREADS, whatever the processors"
tap_is "$(OMP_NUM_THREADS=5,2 rule)" "5, by OMP_NUM_THREADS" "the outermost of a list"
tap_is "$(OMP_NUM_THREADS=64 OMP_THREAD_LIMIT=2 rule)" "2, by OMP_THREAD_LIMIT" "OMP_THREAD_LIMIT bounds it"
tap_is "$(taskset -c "$first" "$QCNN" info | sed -n 's/^threads *//p')" "1, by the affinity mask" "a mask of one processor"
tap_is "$(OMP_PLACES="{$first}" rule)" "1, by OMP_PLACES; OMP_PLACES is {$first}" "a place of one processor"
if [ -d /sys/devices/system/cpu/cpu0/topology ]; then
	tap_is "$(OMP_PLACES=threads rule)" "$have, by OMP_PLACES; OMP_PLACES is threads" "a place for each processor: all of them"
	tap_is "$(OMP_PROC_BIND=close rule)" "$have, by OMP_PROC_BIND" "the same with OMP_PROC_BIND"
else
	tap_skip "no processors in /sys, from which OpenMP makes places"
fi
tap_is "$(OMP_PLACES=threads OMP_NUM_THREADS=1 rule)" "1, by OMP_NUM_THREADS; OMP_PLACES is threads" "OMP_NUM_THREADS comes first"

# What computes is what info says.
used() { "$QCNN" bench --circuit ghz --qubits 4 --runs 1 --no-limits --json | sed -n 's/.*"gradient": [a-z]*, "precision": "single", "threads": \([0-9]*\),.*/\1/p'; }
tap_is "$(OMP_PLACES="{$first}" used)" 1 "bench takes so many"

# ---- options ----

tap_is "$("$QCNN" info --threads 5 --isa baseline | sed -n 's/^threads *//p; s/^\(kernels.*--isa\).*/\1/p')" "kernels       baseline, by --isa
5, by --threads" "what options say"
tap_is "$("$QCNN" info --threads 5 --isa baseline --json | grep -o '"isa": "[a-z]*"\|"threads": [0-9]*, "threads_rule": "[-a-z]*"' | tr '\n' ' ')" \
	'"isa": "baseline" "threads": 5, "threads_rule": "--threads" ' "for programs"
for words in "info --threads 3" "bench --qubits 4 --no-limits --runs 1 --threads 1,3"; do
	tap_exit 2 "more than OMP_THREAD_LIMIT, $words" env OMP_THREAD_LIMIT=2 "$QCNN" $words
	tap_has err "3 threads cannot run here: OMP_THREAD_LIMIT, or the processes that ulimit allows, leave 2" "is told"
done
OMP_NUM_THREADS=4 OMP_THREAD_LIMIT=3 "$QCNN" bench --qubits 4 --no-limits --runs 1 --csv | sed 1d | cut -d, -f10 >threads
tap_is "$(cat threads)" 3 "a table has the threads that ran"

# in_group VERSION QUOTA: what info says where the cgroup grants that.
in_group() {
	unshare $how sh -c '
		mount -t tmpfs none /sys/fs/cgroup || exit 1
		case $1 in
		2) printf "0::/a/b\n" >group.txt
			mkdir -p /sys/fs/cgroup/a/b
			echo "max 100000" >/sys/fs/cgroup/a/b/cpu.max
			echo "$2 100000" >/sys/fs/cgroup/a/cpu.max ;;
		1) printf "3:memory:/x\n2:cpu,cpuacct:/a\n" >group.txt
			mkdir -p /sys/fs/cgroup/cpu/a
			echo "$2" >/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us
			echo 100000 >/sys/fs/cgroup/cpu/a/cpu.cfs_period_us ;;
		esac
		exec "$3" "$4"' - "$1" "$2" ./in_group.sh "$QCNN"
}
# The file is bound over that of the process which reads it.
cat >in_group.sh <<'END'
#!/bin/sh
mount --bind group.txt /proc/$$/cgroup || exit 1
exec "$1" info
END
chmod +x in_group.sh
how=
for try in -m -rm; do
	unshare $try sh -c 'mount -t tmpfs none /sys/fs/cgroup && echo >probe && mount --bind probe /proc/$$/cgroup' 2>/dev/null && how=$try && break
done
for version in 2 1; do
	if [ -z "$how" ]; then
		tap_skip "no mount namespace of one's own"
		continue
	fi
	tap_is "$(in_group $version 50000 | sed -n 's/^threads *//p')" "1, by the cgroup quota" "version $version: half a processor"
	if [ "$have" -gt 1 ]; then
		tap_is "$(in_group $version 130000 | sed -n 's/^threads *//p')" "2, by the cgroup quota" "version $version: rounded up"
	fi
	tap_is "$(in_group $version 6400000000 | sed -n 's/^threads *//p')" "$have, by the affinity mask" "version $version: a quota larger than the machine"
done
tap_done
