// SPDX-License-Identifier: BSD-3-Clause
// Modules that the bundler generates.

declare module "worker:text" {
  const text: string;
  export default text;
}
