// Checks of requests to cublasLtMatmul, and their conversion to products of column-major operands.
#include "libraries/blaslt/plan.h"

namespace warpgrind::libraries::blaslt {
namespace {

using blas::BatchOperand;
using blas::Product;

cudaDataType type_of(int value) {
  return static_cast<cudaDataType>(value);
}

// Operation on the column-major view of an operand: a matrix in row-major order is its transpose in column-major order.
cublasOperation_t by_columns(cublasOperation_t op, const Layout& l) {
  if (l.order != CUBLASLT_ORDER_ROW) return op;
  if (op == CUBLAS_OP_C) return CUBLAS_OP_CONJG;
  return op == CUBLAS_OP_N ? CUBLAS_OP_T : CUBLAS_OP_N;
}

BatchOperand operand_of(const Layout& l) {
  BatchOperand out;
  out.type = l.element();
  out.ld = l.ld;
  return out;
}

// Checks that the shapes and batch counts of the matrices match.
cublasStatus_t check_shapes(const Plan& p, std::int64_t& k) {
  const bool ta = p.desc.transa != CUBLAS_OP_N, tb = p.desc.transb != CUBLAS_OP_N;
  const std::uint64_t rows_a = ta ? p.a.columns : p.a.rows, depth_a = ta ? p.a.rows : p.a.columns;
  const std::uint64_t depth_b = tb ? p.b.columns : p.b.rows, columns_b = tb ? p.b.rows : p.b.columns;
  WG_REQUIRE(rows_a == p.d.rows && columns_b == p.d.columns && depth_a == depth_b);
  WG_REQUIRE(p.c.rows == p.d.rows && p.c.columns == p.d.columns);
  WG_REQUIRE(p.a.batch == p.d.batch && p.b.batch == p.d.batch && p.c.batch == p.d.batch);
  k = static_cast<std::int64_t>(depth_a);
  return CUBLAS_STATUS_SUCCESS;
}

// True if products of these types have epilogues other than the default (the documentation's tables of types).
bool has_epilogues(cudaDataType input, cudaDataType output) {
  if (is_complex(output) || output == CUDA_R_64F) return false;
  return input != CUDA_R_8I || output == CUDA_R_8I;
}
cudaDataType bias_type_of(const Plan& p) {
  if (p.desc.bias_type != -1) return type_of(p.desc.bias_type);
  return p.d.type == CUDA_R_8I ? CUDA_R_32F : p.d.element();
}
bool is_bias_type(const Plan& p, cudaDataType type) {
  return type == p.d.element() || type == type_of(p.desc.scale) || (type == p.a.element() && type != CUDA_R_8I);
}

cublasStatus_t plan_epilogue(Plan& p) {
  const MatmulDesc& d = p.desc;
  WG_REQUIRE(name_of_epilogue(d.epilogue));
  for (const void* scale : d.scales) WG_REQUIRE(!scale);  // only for 8-bit floating point
  if (d.epilogue != CUBLASLT_EPILOGUE_DEFAULT && !has_epilogues(p.a.element(), p.d.element()))
    return CUBLAS_STATUS_NOT_SUPPORTED;
  Epilogue& e = p.epilogue;
  e.kind = d.epilogue;
  e.rows = rows_of(p.d);
  e.columns = columns_of(p.d);
  e.bias_type = bias_type_of(p);
  e.aux_type = d.aux_type == -1 ? p.d.element() : type_of(d.aux_type);
  e.bias = d.bias;
  e.aux = d.aux;
  e.bias_stride = d.bias_stride;
  e.aux_ld = d.aux_ld;
  e.aux_stride = d.aux_stride;
  if (uses_bias(e.kind) && !is_bias_type(p, e.bias_type)) return CUBLAS_STATUS_NOT_SUPPORTED;
  if (uses_aux(e.kind)) {
    WG_REQUIRE(aux_fits(e));
    if (e.aux_type != p.d.element()) return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t check_modes(const MatmulDesc& d) {
  WG_REQUIRE(d.pointer_mode >= CUBLASLT_POINTER_MODE_HOST &&
             d.pointer_mode <= CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_HOST);
  for (const int op : {d.transa, d.transb, d.transc})
    WG_REQUIRE(blas::is_operation(static_cast<cublasOperation_t>(op)));
  if (d.transa == CUBLAS_OP_CONJG || d.transb == CUBLAS_OP_CONJG || d.transc != CUBLAS_OP_N ||
      d.fill != CUBLAS_FILL_MODE_FULL)
    return CUBLAS_STATUS_NOT_SUPPORTED;
  return CUBLAS_STATUS_SUCCESS;
}

}  // namespace

std::uint32_t epilogue_mask(cudaDataType input, cudaDataType output) {
  return has_epilogues(input, output) ? every_epilogue() : std::uint32_t{CUBLASLT_EPILOGUE_DEFAULT};
}

bool are_types(int compute, int scale, int a, int b, int c, int d) {
  if (c != d) return false;
  if ((compute == CUBLAS_COMPUTE_32I || compute == CUBLAS_COMPUTE_32I_PEDANTIC) && a == CUDA_R_8I && b == a && c == a)
    return scale == CUDA_R_32F;
  Product p;
  p.compute = static_cast<cublasComputeType_t>(compute);
  p.a.type = type_of(a);
  p.b.type = type_of(b);
  p.c.type = type_of(c);
  const std::optional<cudaDataType> expected = blas::scale_type(p);
  return expected && *expected == type_of(scale);
}

cublasStatus_t make_plan(const cublasLtMatmulDescOpaque_t* desc, const cublasLtMatrixLayoutOpaque_t* a,
                         const cublasLtMatrixLayoutOpaque_t* b, const cublasLtMatrixLayoutOpaque_t* c,
                         const cublasLtMatrixLayoutOpaque_t* d, Plan& out) {
  const auto* const content_of_desc = content<MatmulDesc>(desc);
  const Layout* const layouts[] = {content<Layout>(a), content<Layout>(b), content<Layout>(c), content<Layout>(d)};
  WG_REQUIRE(content_of_desc && layouts[0] && layouts[1] && layouts[2] && layouts[3]);
  out = {*content_of_desc, *layouts[0], *layouts[1], *layouts[2], *layouts[3], {}, {}};
  Product& p = out.product;
  const auto status = [&]() -> cublasStatus_t {
    for (const Layout* l : layouts)
      if (const cublasStatus_t wrong = check(*l)) return wrong;
    if (const cublasStatus_t wrong = check_modes(out.desc)) return wrong;
    if (const cublasStatus_t wrong = check_shapes(out, p.k)) return wrong;
    if (!are_types(out.desc.compute, out.desc.scale, layouts[0]->element(), layouts[1]->element(),
                   layouts[2]->element(), layouts[3]->element()))
      return CUBLAS_STATUS_NOT_SUPPORTED;
    for (const Layout* l : layouts)  // only integer products of tensor cores have tiled orders
      if (is_tiled(*l) && out.a.type != CUDA_R_8I) return CUBLAS_STATUS_NOT_SUPPORTED;
    return plan_epilogue(out);
  }();
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  p.transa = by_columns(static_cast<cublasOperation_t>(out.desc.transa), out.a);
  p.transb = by_columns(static_cast<cublasOperation_t>(out.desc.transb), out.b);
  p.m = rows_of(out.d);
  p.n = columns_of(out.d);
  p.batch = out.d.batch;
  p.a = operand_of(out.a);
  p.b = operand_of(out.b);
  p.c = operand_of(out.d);
  p.compute = static_cast<cublasComputeType_t>(out.desc.compute);
  return CUBLAS_STATUS_SUCCESS;
}

}  // namespace warpgrind::libraries::blaslt
