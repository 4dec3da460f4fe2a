/* SPDX-License-Identifier: Apache-2.0
 * The kernels, compiled once per precision (REAL) and instruction set (KERNEL_ISA, whose vectors have VECTOR_BYTES); KERNEL
 * is the suffix of the one table this file exports.  Each family is a template of its own. */
#include "runtime/exec/statevector/cpu/blocks_tmpl.h"
#include "runtime/exec/statevector/cpu/dense_tmpl.h"
#include "runtime/exec/statevector/cpu/diagonal_tmpl.h"
#include "runtime/exec/statevector/cpu/finish_tmpl.h"
#include "runtime/exec/statevector/cpu/limits_tmpl.h"
#include "runtime/exec/statevector/cpu/pairs_tmpl.h"
#include "runtime/exec/statevector/cpu/readouts_tmpl.h"
#include "runtime/exec/statevector/cpu/anti_hermitian_tmpl.h"
#include "runtime/exec/statevector/cpu/totals_tmpl.h"
#include "runtime/exec/statevector/cpu/unapply_tmpl.h"
#include "runtime/exec/statevector/cpu/vectors_tmpl.h"
#include "runtime/exec/statevector/cpu/products_tmpl.h"

extern const struct kernels JOIN(kernels_, KERNEL);
const struct kernels JOIN(kernels_, KERNEL) = {
	.isa = KERNEL_ISA,
	.lanes = LANES,
	.real_bytes = sizeof(real),
	.zero = zero,
	.put = put,
	.get = get,
	.store = store,
	.round = round_entries,
	.adjoint = adjoint,
	.fetch = fetch,
	.permute = permute,
	.apply = apply,
	.apply_on_zero = apply_on_zero,
	.apply_ones = apply_ones,
	.unapply = unapply,
	.anti_hermitian = anti_hermitian,
	.transition = transition,
	.scale = scale,
	.unscale = unscale,
	.table_one = table_one,
	.table_scale = table_scale,
	.apply_table = apply_table,
	.gather = gather,
	.scatter = scatter,
	.finish = finish,
	.nontemporal_exists = nontemporal_exists,
	.expect = expect,
	.expect_products = expect_products,
	.lambda = lambda,
	.lambda_products = lambda_products,
	.probs = probs,
	.lambda_probs = lambda_probs,
	.overlap = overlap,
	.mix = mix,
	.overlap_lanes = overlap_lanes,
	.lambda_lanes = lambda_lanes,
	.stream = stream,
	.stream_narrow = stream_narrow,
	.write_nontemporal = write_nontemporal,
	.multiply_add = multiply_add,
};
