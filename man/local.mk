# SPDX-License-Identifier: Apache-2.0
# The manual pages. A new page: one line in the list of its kind; generated ones have a template NAME.in.

generated_pages = \
	man/qcnn.1 \
	man/qcnn-bench.1 \
	man/qcnn-check.1 \
	man/qcnn-compile.1 \
	man/qcnn-completions.1 \
	man/qcnn-config.1 \
	man/qcnn-config.5 \
	man/qcnn-draw.1 \
	man/qcnn-explain.1 \
	man/qcnn-infer.1 \
	man/qcnn-info.1 \
	man/qcnn-init.1 \
	man/qcnn-lang.7 \
	man/qcnn-profile.1 \
	man/qcnn-run.1 \
	man/qcnn-runs.1 \
	man/qcnn-train.1 \
	man/qcnn-weights.1 \
	man/qcnn-worker.1 \
	man/qcnn-wire.7
written_pages = man/qcnn-bytecode.5

dist_man_MANS += $(written_pages)
EXTRA_DIST += $(generated_pages:=.in)

# Filled from the tables by a program of ours, and shipped, so that a tarball has them at once. Where
# that program does not run here (a build for another machine) the shipped pages are taken.
dist_man_MANS += $(generated_pages)
CLEANFILES += $(generated_pages)

$(generated_pages): cli/manual/manual$(EXEEXT)
	$(AM_V_GEN)$(MKDIR_P) man && if ./cli/manual/manual$(EXEEXT) $(srcdir)/$@.in >$@.tmp; then mv -f $@.tmp $@; \
	else rm -f $@.tmp; test -f $(srcdir)/$@ && test -f $@ || cp $(srcdir)/$@ $@; fi

man/qcnn.1: man/qcnn.1.in
man/qcnn-bench.1: man/qcnn-bench.1.in
man/qcnn-check.1: man/qcnn-check.1.in
man/qcnn-compile.1: man/qcnn-compile.1.in
man/qcnn-config.1: man/qcnn-config.1.in
man/qcnn-config.5: man/qcnn-config.5.in
man/qcnn-completions.1: man/qcnn-completions.1.in
man/qcnn-draw.1: man/qcnn-draw.1.in
man/qcnn-init.1: man/qcnn-init.1.in
man/qcnn-runs.1: man/qcnn-runs.1.in
man/qcnn-explain.1: man/qcnn-explain.1.in
man/qcnn-infer.1: man/qcnn-infer.1.in
man/qcnn-info.1: man/qcnn-info.1.in
man/qcnn-lang.7: man/qcnn-lang.7.in
man/qcnn-profile.1: man/qcnn-profile.1.in
man/qcnn-run.1: man/qcnn-run.1.in
man/qcnn-train.1: man/qcnn-train.1.in
man/qcnn-weights.1: man/qcnn-weights.1.in
man/qcnn-worker.1: man/qcnn-worker.1.in
man/qcnn-wire.7: man/qcnn-wire.7.in
