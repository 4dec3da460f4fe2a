# SPDX-License-Identifier: Apache-2.0
# The tests. A C test tests/KIND/test_NAME.c: one line in check_PROGRAMS (no _SOURCES needed);
# a shell test tests/KIND/test_NAME.sh: one line in shell_tests; files they read: one line in EXTRA_DIST.

check_PROGRAMS +=

shell_tests =

# Lists by purpose; every name is a path as above.
# What distcheck runs:
smoke_tests =
# Too slow under the sanitizers; left out of check-sanitize:
unsanitized_tests =
# Longer work: `make check-soak`, `make check-perf` (speed only here).
soak_tests =
perf_tests =

EXTRA_DIST += tests/tap.h tests/tap.sh tests/run-tests tests/allowed-skips \
	$(shell_tests) $(soak_tests) $(perf_tests)

all_tests = $(check_PROGRAMS) $(shell_tests)
run_tests = CC='$(CC)' $(SHELL) $(srcdir)/tests/run-tests -s $(srcdir) -b .

if SMOKE_CHECK
check-local:
	@$(run_tests) $(smoke_tests)
else
check-local:
	@$(run_tests) $(all_tests)
endif

check-soak: all $(check_PROGRAMS)
	@$(run_tests) -t 3600 $(soak_tests)

check-perf: all $(check_PROGRAMS)
	@$(run_tests) -j 1 -t 3600 $(perf_tests)

# A build with sanitizers in a folder of its own; CHECK_JOBS bounds its compilers.
CHECK_JOBS = $$(nproc 2>/dev/null || echo 2)
check-sanitize:
	@$(MKDIR_P) sanitize
	@cd sanitize && { test -f config.status || \
		$(SHELL) $(abs_srcdir)/configure -q --srcdir=$(abs_srcdir) --enable-sanitizers --cache-file=config.cache; }
	@cd sanitize && $(MAKE) $(AM_MAKEFLAGS) -s -j $(CHECK_JOBS) all check-programs
	@cd sanitize && $(MAKE) $(AM_MAKEFLAGS) -s check-sanitized

check-programs: $(check_PROGRAMS)

check-sanitized:
	@skip=" $(unsanitized_tests) "; run=; \
	for t in $(all_tests); do case $$skip in *" $$t "*) ;; *) run="$$run $$t";; esac; done; \
	$(run_tests) -t 600 $$run

clean-local:
	rm -rf tests/logs
distclean-local:
	rm -rf sanitize
.PHONY: check-soak check-perf check-sanitize check-sanitized check-programs
