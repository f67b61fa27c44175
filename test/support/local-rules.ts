import { rangesOf } from '../../src/base/outside/addresses.ts';
import { type OutsideRules, resolveName } from '../../src/base/outside/target.ts';

/** Loopback is allowed, also without TLS, as a developer configures it. */
export const localRules: OutsideRules = {
  allowed: rangesOf(['127.0.0.1/32']),
  allowsHttp: true,
  resolve: resolveName,
};
