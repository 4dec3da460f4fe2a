# SPDX-License-Identifier: Apache-2.0
# configure with odd flags and options: it finds what is there, and says what it cannot do.
. "${top_srcdir:?run this test through tests/run-tests}/tests/tap.sh"

# A source folder that is not configured, with what configure reads; what this build has found needs no second probe.
mkdir -p runtime/base
for file in configure config.h.in Makefile.in build-aux runtime/base/err.def; do
	cp -RL "$top_srcdir/$file" "./$file" || tap_skip_all "configure is not here"
done
grep '^ac_cv_' "$top_builddir/config.log" | grep -v '^ac_cv_env_' >cache
# configured WORDS...: what configure prints, with the compiler of this build.
configured() {   # --srcdir: distcheck gives another one
	eval "set -- $("$top_builddir/config.status" --config) --srcdir=. --without-hdf5 --without-nlopt --without-mpi --cache-file=known \"\$@\""
	cp cache known
	sh ./configure "$@"
}

tap_exit 0 "flags about which the compiler warns" configured CFLAGS="-g -Wformat-security -Wl,-z,now"
tap_is "$(grep 'define QCNN_X86_KERNELS' config.h)" "$(grep 'define QCNN_X86_KERNELS' "$top_builddir/config.h")" "leave the AVX kernels in"
tap_exit 1 "without OpenMP" configured --disable-openmp
tap_has err "qcnn does not work without OpenMP: leave out --disable-openmp" "it says what to do"
tap_exit 1 "an MPI that there is none of" configured --with-mpi=openmpi,lam
tap_has err '--with-mpi takes auto, no, or a list of openmpi and mpich, not "lam"' "those there are are named"
tap_done
