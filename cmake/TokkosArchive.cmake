# SPDX-FileCopyrightText: The Tokkos authors
# SPDX-License-Identifier: Apache-2.0

# The pinned archives: name, version, then per place "file or URL tail" and SHA-256. A place may hold
# the same release in another wrapping, so each has a hash of its own.

set(_TOKKOS_KOKKOS_VERSION 5.0.2)
set(
  _TOKKOS_KOKKOS_UPSTREAM
  "https://github.com/kokkos/kokkos/releases/download/5.0.2/kokkos-5.0.2.tar.gz"
  188817bb452ca805ee8701f1c5adbbb4fb83dc8d1c50624566a18a719ba0fa5e
)
set(
  _TOKKOS_KOKKOS_POOL
  "pool/main/k/kokkos/kokkos_5.0.2.orig.tar.gz"
  188817bb452ca805ee8701f1c5adbbb4fb83dc8d1c50624566a18a719ba0fa5e
)

set(_TOKKOS_CATCH2_VERSION 3.7.1)
set(
  _TOKKOS_CATCH2_UPSTREAM
  "https://github.com/catchorg/Catch2/archive/refs/tags/v3.7.1.tar.gz"
  c991b247a1a0d7bb9c39aa35faf0fe9e19764213f28ffba3109388e62ee0269c
)
set(
  _TOKKOS_CATCH2_POOL
  "pool/main/c/catch2/catch2_3.7.1.orig.tar.gz"
  c991b247a1a0d7bb9c39aa35faf0fe9e19764213f28ffba3109388e62ee0269c
)

set(_TOKKOS_BENCHMARK_VERSION 1.9.1)
set(
  _TOKKOS_BENCHMARK_UPSTREAM
  "https://github.com/google/benchmark/archive/refs/tags/v1.9.1.tar.gz"
  32131c08ee31eeff2c8968d7e874f3cb648034377dfc32a4c377fa8796d84981
)
set(
  _TOKKOS_BENCHMARK_POOL
  "pool/main/b/benchmark/benchmark_1.9.1.orig.tar.gz"
  32131c08ee31eeff2c8968d7e874f3cb648034377dfc32a4c377fa8796d84981
)

set(_TOKKOS_NLOHMANN_JSON_VERSION 3.11.3)
set(
  _TOKKOS_NLOHMANN_JSON_UPSTREAM
  "https://github.com/nlohmann/json/archive/refs/tags/v3.11.3.tar.gz"
  0d8ef5af7f9794e3263480193c491549b2ba6cc74bb018906202ada498a79406
)
set(
  _TOKKOS_NLOHMANN_JSON_POOL
  "pool/main/n/nlohmann-json3/nlohmann-json3_3.11.3.orig.tar.gz"
  0d8ef5af7f9794e3263480193c491549b2ba6cc74bb018906202ada498a79406
)

set(_TOKKOS_CXXOPTS_VERSION 3.1.1)
set(
  _TOKKOS_CXXOPTS_UPSTREAM
  "https://github.com/jarro2783/cxxopts/archive/refs/tags/v3.1.1.tar.gz"
  523175f792eb0ff04f9e653c90746c12655f10cb70f1d5e6d6d9491420298a08
)
set(
  _TOKKOS_CXXOPTS_POOL
  "pool/main/c/cxxopts/libcxxopts-dev_3.1.1-1_all.deb"
  f630f681cf07f5c8438241983ddd27e97fce36a1ef3c7d8b954a88e8de3d8417
)

set(_TOKKOS_DLPACK_VERSION 1.0)
set(
  _TOKKOS_DLPACK_UPSTREAM
  "https://github.com/dmlc/dlpack/archive/refs/tags/v1.0.tar.gz"
  f8cfdcb634ff3cf0e3d9a3426e019e1c6469780a3b0020c9bc4ecc09cf9abcb1
)
set(
  _TOKKOS_DLPACK_POOL
  "pool/main/d/dlpack/dlpack_1.0.orig.tar.gz"
  f8cfdcb634ff3cf0e3d9a3426e019e1c6469780a3b0020c9bc4ecc09cf9abcb1
)

# Headers alone, which is all that the LM head needs; upstream has sources that must be built.
set(_TOKKOS_KOKKOS_KERNELS_VERSION 5.0.2)
set(_TOKKOS_KOKKOS_KERNELS_UPSTREAM)
set(
  _TOKKOS_KOKKOS_KERNELS_POOL
  "pool/main/t/trilinos/libtrilinos-kokkos-kernels-dev_17.0.0+dfsg-5_amd64.deb"
  11a645e2b3468aafc62e021dd5e06559841f2a6ef6725265dbfa6bb1fd7fbb9b
)

# The base address of the package mirror that this machine is configured for; empty if none is.
function(_tokkos_package_mirror result)
  set(${result} "" PARENT_SCOPE)
  find_program(TOKKOS_APT_GET apt-get)
  mark_as_advanced(TOKKOS_APT_GET)
  if(NOT TOKKOS_APT_GET)
    return()
  endif()
  execute_process(
    COMMAND "${TOKKOS_APT_GET}" indextargets --format "$(REPO_URI)" "Created-By: Packages"
    OUTPUT_VARIABLE uris
    ERROR_QUIET
    OUTPUT_STRIP_TRAILING_WHITESPACE
  )
  string(REGEX REPLACE "\n.*" "" uri "${uris}")
  string(REGEX REPLACE "/$" "" uri "${uri}")
  if(uri MATCHES "^(https?|file)://")
    set(${result} "${uri}" PARENT_SCOPE)
  endif()
endfunction()

# Download without long waits: a server that does not answer within 20 seconds is not asked again, one
# that answers slowly gets as long as data keeps coming.
function(_tokkos_download url file ok)
  set(${ok} FALSE PARENT_SCOPE)
  string(REGEX MATCH "^[a-z]+://[^/]*" server "${url}")
  get_property(unreachable GLOBAL PROPERTY TOKKOS_UNREACHABLE_SERVERS)
  if(server IN_LIST unreachable)
    return()
  endif()
  file(DOWNLOAD "${url}" "${file}" TIMEOUT 20 STATUS status)
  list(GET status 0 code)
  if(code EQUAL 28) # the operation timed out
    file(SIZE "${file}" bytes)
    if(bytes EQUAL 0)
      set_property(GLOBAL APPEND PROPERTY TOKKOS_UNREACHABLE_SERVERS "${server}")
    else()
      file(DOWNLOAD "${url}" "${file}" INACTIVITY_TIMEOUT 20 STATUS status)
      list(GET status 0 code)
    endif()
  endif()
  if(code EQUAL 0)
    set(${ok} TRUE PARENT_SCOPE)
  endif()
endfunction()

# Copy or download one archive to `file`; `ok` tells whether its hash is the pinned one.
function(_tokkos_fetch place hash file ok)
  set(${ok} FALSE PARENT_SCOPE)
  if(place MATCHES "^[a-z]+://")
    _tokkos_download("${place}" "${file}.part" downloaded)
    if(NOT downloaded)
      file(REMOVE "${file}.part")
      return()
    endif()
  elseif(EXISTS "${place}")
    file(COPY_FILE "${place}" "${file}.part")
  else()
    return()
  endif()
  file(SHA256 "${file}.part" actual)
  if(actual STREQUAL hash)
    file(RENAME "${file}.part" "${file}")
    set(${ok} TRUE PARENT_SCOPE)
  else()
    file(REMOVE "${file}.part")
    message(WARNING "${place} has SHA-256 ${actual}, expected ${hash}: not used")
  endif()
endfunction()

# Set `result` to a local file that holds the pinned archive of dependency `name`; where no place has
# it, to nothing, and `tried` to the list of places.
function(_tokkos_find_archive name result tried)
  set(${result} "" PARENT_SCOPE)
  set(folder "${CMAKE_BINARY_DIR}/_archives")
  if(TOKKOS_ARCHIVE_FOLDER)
    set(folder "${TOKKOS_ARCHIVE_FOLDER}")
  endif()
  string(TOLOWER ${name} lower)
  set(places) # file or URL tail, hash
  foreach(kind IN ITEMS UPSTREAM POOL)
    if(_TOKKOS_${name}_${kind})
      list(APPEND places ${_TOKKOS_${name}_${kind}})
    endif()
  endforeach()

  # In groups of three: place, hash, where the copy goes.
  set(candidates)
  set(rest ${places})
  while(rest)
    list(POP_FRONT rest tail hash)
    get_filename_component(file "${tail}" NAME)
    set(copy "${folder}/${lower}-${file}")
    if(EXISTS "${copy}")
      set(${result} "${copy}" PARENT_SCOPE)
      return()
    endif()
    if(TOKKOS_DEPENDENCY_MIRROR)
      string(REGEX REPLACE "/$" "" mirror "${TOKKOS_DEPENDENCY_MIRROR}")
      # With the package's name in front, as _archives keeps them, or as they were downloaded.
      foreach(prefix IN ITEMS "${lower}-" "")
        list(APPEND candidates "${mirror}/${prefix}${file}" ${hash} "${copy}")
      endforeach()
    endif()
  endwhile()
  file(MAKE_DIRECTORY "${folder}")
  _tokkos_package_mirror(packages)
  set(rest ${places})
  list(REVERSE rest) # the package mirror comes before upstream
  while(rest)
    list(POP_FRONT rest hash tail)
    get_filename_component(file "${tail}" NAME)
    if(tail MATCHES "^pool/")
      if(NOT packages)
        continue()
      endif()
      string(PREPEND tail "${packages}/")
    endif()
    list(APPEND candidates "${tail}" ${hash} "${folder}/${lower}-${file}")
  endwhile()

  set(asked)
  while(candidates)
    list(POP_FRONT candidates place hash copy)
    _tokkos_fetch("${place}" ${hash} "${copy}" ok)
    if(ok)
      message(STATUS "Tokkos: ${lower} ${_TOKKOS_${name}_VERSION} from ${place}")
      set(${result} "${copy}" PARENT_SCOPE)
      return()
    endif()
    string(APPEND asked "\n    ${place}")
  endwhile()
  set(${tried} "${asked}" PARENT_SCOPE)
endfunction()

# The same, or stop.
function(tokkos_obtain_archive name result)
  _tokkos_find_archive(${name} archive tried)
  set(${result} "${archive}" PARENT_SCOPE)
  if(archive)
    return()
  endif()
  string(TOLOWER ${name} lower)
  list(GET _TOKKOS_${name}_UPSTREAM 0 upstream)
  list(GET _TOKKOS_${name}_UPSTREAM 1 upstream_hash)
  get_filename_component(upstream_file "${upstream}" NAME)
  message(
    FATAL_ERROR
    "${lower} ${_TOKKOS_${name}_VERSION} is missing: it is not installed, and none of these places "
    "has its archive:${tried}\n"
    "  Give it in one of three ways:\n"
    "    1. install it and pass -DCMAKE_PREFIX_PATH=PREFIX,\n"
    "    2. put ${upstream_file} (SHA-256 ${upstream_hash}) into a folder and pass "
    "-DTOKKOS_DEPENDENCY_MIRROR=FOLDER,\n"
    "    3. configure on a machine that reaches a package mirror or the internet.\n"
  )
endfunction()

# Unpack an archive and set `result` to the folder of one of its headers.
function(tokkos_extract_header name archive header result)
  string(TOLOWER ${name} lower)
  set(folder "${CMAKE_BINARY_DIR}/_headers/${lower}")
  if(NOT EXISTS "${folder}")
    file(ARCHIVE_EXTRACT INPUT "${archive}" DESTINATION "${folder}")
    file(GLOB inner "${folder}/data.tar.*")
    if(inner)
      file(ARCHIVE_EXTRACT INPUT "${inner}" DESTINATION "${folder}")
    endif()
  endif()
  file(GLOB_RECURSE found "${folder}/*/include/${header}")
  if(NOT found)
    message(FATAL_ERROR "${archive} holds no include/${header}")
  endif()
  list(GET found 0 found)
  get_filename_component(found "${found}" DIRECTORY)
  set(${result} "${found}" PARENT_SCOPE)
endfunction()
