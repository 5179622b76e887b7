// SPDX-License-Identifier: BSD-3-Clause
// What the bundler makes.

declare module "worker:text" {
  const text: string;
  export default text;
}
