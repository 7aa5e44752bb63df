// Where does a test's certificate come from? Made for it by OpenSSL, signed by itself, written into a folder.
#pragma once

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <cstdio>
#include <memory>
#include <string>

#include "support/temp_folder.h"

namespace ferrox::testing {

/// cert.pem and key.pem of one new key, for as long as it lives.
class SelfSigned {
 public:
  SelfSigned() {
    const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(EVP_EC_gen("P-256"), EVP_PKEY_free);
    const std::unique_ptr<X509, decltype(&X509_free)> certificate(X509_new(), X509_free);
    constexpr long kHour = 3600;
    ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), 1);
    X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -kHour);
    X509_gmtime_adj(X509_getm_notAfter(certificate.get()), kHour);
    X509_set_pubkey(certificate.get(), key.get());
    X509_NAME* const name = X509_get_subject_name(certificate.get());
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>("localhost"), -1, -1,
                               0);
    X509_set_issuer_name(certificate.get(), name);
    EXPECT_GT(X509_sign(certificate.get(), key.get(), EVP_sha256()), 0);
    write(cert_file(), [&](FILE* file) { return PEM_write_X509(file, certificate.get()); });
    write(key_file(),
          [&](FILE* file) { return PEM_write_PrivateKey(file, key.get(), nullptr, nullptr, 0, nullptr, nullptr); });
    unsigned char password[] = "secret";
    write(locked_key_file(), [&](FILE* file) {
      return PEM_write_PrivateKey(file, key.get(), EVP_aes_128_cbc(), password, sizeof password - 1, nullptr, nullptr);
    });
  }

  std::string cert_file() const { return folder_.path() / "cert.pem"; }
  std::string key_file() const { return folder_.path() / "key.pem"; }
  std::string locked_key_file() const { return folder_.path() / "locked.pem"; }  ///< with a password

 private:
  template <class Write>
  static void write(const std::string& path, Write write_to) {
    FILE* const file = std::fopen(path.c_str(), "w");
    ASSERT_NE(file, nullptr);
    EXPECT_EQ(write_to(file), 1);
    std::fclose(file);
  }

  TempFolder folder_;
};

}  // namespace ferrox::testing
