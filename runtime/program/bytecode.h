/* SPDX-License-Identifier: Apache-2.0
 * The layout of a program's bytes, shared by reader and writer (qcnn-bytecode(5)).
 *
 * Little-endian, nothing aligned, IEEE doubles.  `text` is a u16 length and that
 * many bytes, without NUL or control characters; length 0xffff: absent.
 *
 *     offset  size
 *          0     8  magic "QCNNBC\r\n" (a transfer in text mode damages it)
 *          8     4  version, 1
 *         12     4  number of sections, 8
 *         16  8*24  the section table, in the order of enum bytecode_section:
 *                       u32 section, u32 count of its records, u64 offset, u64 size
 *        208     .  the sections' records, in that order, without gaps
 *     end-32    32  SHA-256 of all before
 *
 * Records:
 *     weights   text path, u8 init, u8 frozen, u8 ndim, u32 dim[ndim], then by init:
 *                   uniform, normal, glorot-uniform: f64 a, f64 b
 *                   values: f64 value[product of dim]
 *     inputs    text name, u8 is_state, u8 ndim, u32 dim[ndim]
 *     exprs     u8 op, then by op: const: f64   weight, input: u32   others: u32 per operand
 *     matrices  text name, u8 ntarget, u32 nitem, then items:
 *                   u16 gate, u8 word, u8 adjoint, u8 ncontrol, u8 nwire, u8 control_ones,
 *                   u8 wire[nwire], gate 0: u32 matrix   others: u32 expression per angle
 *     circuits  text name, u32 nwire, u32 nregister, u32 napply, u32 noutput, then
 *                   registers: text name, u32 first, u32 count
 *                   applies: u8 op, u8 adjoint, u16 ncontrol, u16 nwire, u32 layer, u32 span,
 *                       u32 wire[nwire], u64 control_ones if ncontrol > 0, then by op:
 *                       unitary: u32 matrix   state: u32 input   amplitudes: u32 n, u32 expr[n]
 *                   outputs: u8 kind, then
 *                       pauli: u32 nterm, terms: f64 coefficient, u32 nfactor,
 *                           factors: u32 wire, u8 letter
 *                       probs: u32 nwire, u32 wire[nwire]
 *     dense     u32 nin, u32 nout, u8 activation, u32 kernel, u32 bias
 *     layers    text path, u8 embed
 *     spans     u32 line, u32 column
 *
 * Numbers of operations are those of expr.def, apply.def, activation.def and of the
 * rows of lang/gates.def.  Firsts, counts of scalars and classes follow from the
 * records and are not stored. */
#pragma once

#include <stdint.h>

#define BYTECODE_MAGIC "QCNNBC\r\n"

enum bytecode_section {
	SECTION_NONE = 0, SECTION_WEIGHTS, SECTION_INPUTS, SECTION_EXPRS, SECTION_MATRICES,
	SECTION_CIRCUITS, SECTION_DENSE, SECTION_LAYERS, SECTION_SPANS, SECTION_END
};

enum {
	BYTECODE_VERSION = 1,
	BYTECODE_MAGIC_BYTES = 8,
	BYTECODE_SECTIONS = SECTION_END - 1,
	BYTECODE_HEAD_BYTES = 16,
	BYTECODE_ROW_BYTES = 24,         /* of the section table */
	BYTECODE_HASH_BYTES = 32,
	BYTECODE_TEXT_ABSENT = 0xffff
};

/* Fewest bytes of a record: what a count can ask for is bounded by the bytes there. */
enum {
	WEIGHT_BYTES_MIN = 5,
	INPUT_BYTES_MIN = 4,
	EXPR_BYTES_MIN = 5,
	MATRIX_BYTES_MIN = 7,
	ITEM_BYTES_MIN = 8,
	CIRCUIT_BYTES_MIN = 18,
	REGISTER_BYTES_MIN = 10,
	APPLY_BYTES_MIN = 14,
	OUTPUT_BYTES_MIN = 5,
	TERM_BYTES_MIN = 12,
	FACTOR_BYTES = 5,
	DENSE_BYTES = 17,
	LAYER_BYTES_MIN = 3,
	SPAN_BYTES = 8
};
