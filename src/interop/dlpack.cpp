// SPDX-FileCopyrightText: The Tokkos authors
// SPDX-License-Identifier: Apache-2.0
#include <tokkos/interop/dlpack.hpp>

#include <limits>

namespace tokkos {

namespace {

std::string name_of(int code, std::size_t bits, std::size_t lanes = 1) {
  const char* const names[] = {"int", "uint", "float", "opaque", "bfloat", "complex", "bool"};
  const bool is_known = code >= 0 && code < 7;
  std::string name = is_known ? names[code] : "code " + std::to_string(code) + " of bits ";
  name += std::to_string(bits);
  return lanes == 1 ? name : name + "x" + std::to_string(lanes);
}

std::string name_of(const DlpackDevice& device) {
  return "type " + std::to_string(device.type) + ", id " + std::to_string(device.id);
}

}  // namespace

DlpackTensor::DlpackTensor(const char* name, const DLTensor& tensor, bool is_read_only)
    : m_name(name),
      m_device(tensor.device),
      m_dtype(tensor.dtype),
      m_ndim(tensor.ndim),
      m_is_read_only(is_read_only) {
  require(m_ndim == 1 || m_ndim == 2, (m_name + ".ndim").c_str(), std::nullopt,
          std::int64_t{m_ndim}, "1 or 2");
  check_dtype();
  take_places(tensor);
  take_data(tensor);
}

const DLTensor& DlpackTensor::checked_version(const char* name,
                                              const DLManagedTensorVersioned& managed) {
  if (managed.version.major == 1) return managed.dl_tensor;
  throw Error(std::string(name) + ".version", std::nullopt,
              std::to_string(managed.version.major) + "." + std::to_string(managed.version.minor),
              "1.x");
}

void DlpackTensor::check_dtype() const {
  const bool is_float = m_dtype.code == kDLFloat && (m_dtype.bits == 32 || m_dtype.bits == 16);
  const bool is_bfloat = m_dtype.code == kDLBfloat && m_dtype.bits == 16;
  const bool is_integer = m_dtype.code == kDLInt && (m_dtype.bits == 32 || m_dtype.bits == 64);
  const bool is_words = m_dtype.code == kDLUInt && m_dtype.bits == 32;  // as int32: a mask's
  if ((is_float || is_bfloat || is_integer || is_words) && m_dtype.lanes == 1) return;
  throw Error(m_name + ".dtype", std::nullopt, name_of(m_dtype.code, m_dtype.bits, m_dtype.lanes),
              "float32, float16, bfloat16, int32, uint32 or int64");
}

void DlpackTensor::check_dtype_is(int code, std::size_t bits) const {
  const int own = m_dtype.code == kDLUInt ? static_cast<int>(kDLInt) : m_dtype.code;
  if (own == code && m_dtype.bits == bits) return;
  throw Error(m_name + ".dtype", std::nullopt, name_of(m_dtype.code, m_dtype.bits),
              name_of(code, bits));
}

void DlpackTensor::check_device(const DlpackDevice& device) const {
  const DlpackDevice own{m_device.device_type, m_device.device_id};
  if (device.reaches(own)) return;
  throw Error(m_name + ".device", std::nullopt, name_of(own), name_of(device));
}

void DlpackTensor::take_places(const DLTensor& tensor) {
  if (tensor.shape == nullptr) {
    throw Error(m_name + ".shape", std::nullopt, "null", std::to_string(m_ndim) + " extents");
  }
  bool is_empty = false;
  for (int i = 0; i < m_ndim; ++i) {
    m_shape[i] = tensor.shape[i];
    require(m_shape[i] >= 0, (m_name + ".shape").c_str(), i, m_shape[i], "0 or more");
    is_empty = is_empty || m_shape[i] == 0;
  }
  if (m_ndim == 2) m_strides[0] = m_shape[1];
  for (int i = 0; i < m_ndim && tensor.strides != nullptr && !is_empty; ++i) {
    if (m_shape[i] == 1) continue;  // never taken
    m_strides[i] = tensor.strides[i];
    const bool is_row = m_ndim == 2 && i == 1;
    require(is_row ? m_strides[i] == 1 : m_strides[i] >= 1, (m_name + ".strides").c_str(), i,
            m_strides[i], is_row ? "1: a row's elements side by side" : "1 or more");
  }
  if (m_ndim == 2 && m_shape[0] > 1 && m_strides[0] < m_shape[1]) {
    throw Error(m_name + ".strides", 0, to_text(m_strides[0]),
                "at least the row length " + to_text(m_shape[1]));
  }
  // Extents that no memory has would wrap around in the products of addresses.
  std::int64_t reach = 0, bytes = 0;
  if (!is_empty && (__builtin_mul_overflow(m_shape[0], m_strides[0], &reach) ||
                    __builtin_add_overflow(reach, m_shape[1], &reach) ||
                    __builtin_mul_overflow(reach, std::int64_t{8}, &bytes))) {
    throw Error(m_name + ".shape", 0, to_text(m_shape[0]), "less memory than addresses reach");
  }
}

void DlpackTensor::take_data(const DLTensor& tensor) {
  const bool is_empty = m_shape[0] == 0 || m_shape[1] == 0;
  if (is_empty) return;
  if (tensor.data == nullptr) {
    throw Error(m_name + ".data", std::nullopt, "null", "memory of the tensor's elements");
  }
  const std::uint64_t size = m_dtype.bits / 8;
  const auto address = reinterpret_cast<std::uintptr_t>(tensor.data);
  if (tensor.byte_offset % size != 0 ||
      tensor.byte_offset > std::numeric_limits<std::uintptr_t>::max() - address) {
    throw Error(m_name + ".byte_offset", std::nullopt, std::to_string(tensor.byte_offset),
                "a multiple of " + std::to_string(size) + " within memory");
  }
  if (address % size != 0) {
    throw Error(m_name + ".data", std::nullopt, std::to_string(address),
                "an address that is a multiple of " + std::to_string(size));
  }
  m_data = static_cast<char*>(tensor.data) + tensor.byte_offset;
}

}  // namespace tokkos
