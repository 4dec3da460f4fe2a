# SPDX-License-Identifier: Apache-2.0
# The files of compiler/. A new file: one line here, headers too (they are shipped), in order of the alphabet.

noinst_LIBRARIES += libcompiler.a
libcompiler_a_SOURCES = \
	compiler/asm.h \
	compiler/asm_circuit.c \
	compiler/asm_print.c \
	compiler/asm_read.c \
	compiler/asm_scan.c \
	compiler/circuit.c \
	compiler/circuit.h \
	compiler/circuit_print.c \
	compiler/compile.h \
	compiler/draw.h \
	compiler/draw_build.h \
	compiler/draw_canvas.c \
	compiler/draw_canvas.h \
	compiler/draw_element.c \
	compiler/draw_ink.c \
	compiler/draw_ink.h \
	compiler/draw_label.c \
	compiler/draw_rows.c \
	compiler/draw_scene.c \
	compiler/draw_scene.h \
	compiler/draw_svg.c \
	compiler/draw_svg_parts.c \
	compiler/draw_svg_parts.h \
	compiler/draw_text.c \
	compiler/elab.h \
	compiler/elab_block.c \
	compiler/elab_builtin.c \
	compiler/elab_call.c \
	compiler/elab_circuit.c \
	compiler/elab_decl.c \
	compiler/elab_expr.c \
	compiler/elab_index.c \
	compiler/elab_modifier.c \
	compiler/elab_observe.c \
	compiler/elab_param.c \
	compiler/elab_wires.c \
	compiler/elaborate.c \
	compiler/elaborate.h \
	compiler/exprs.c \
	compiler/exprs.h \
	compiler/lists.c \
	compiler/lists.h \
	compiler/lower.c \
	compiler/lower.h \
	compiler/model_print.c \
	compiler/model_print.h \
	compiler/model_print_gate.c \
	compiler/pass.h \
	compiler/pass_cancel.c \
	compiler/pass_cone.c \
	compiler/pass_fold.c \
	compiler/paths.c \
	compiler/paths.h \
	compiler/pauli_sum.c \
	compiler/pauli_sum.h \
	compiler/pipeline.c \
	compiler/principal.c \
	compiler/principal.h \
	compiler/qsim.c \
	compiler/qsim.h \
	compiler/used.c \
	compiler/value.c \
	compiler/value.h
