// The rules of this installation for calls to programs outside. They are set once at start.
import { readFileSync } from 'node:fs';
import { rangesOf } from './addresses.ts';
import { type OutsideRules, resolveName } from './target.ts';

export type OutsideConfig = {
  allowedAddresses: readonly string[];
  allowsHttp: boolean;
  caFile: string | undefined;
};

let rules: OutsideRules = { allowed: rangesOf([]), allowsHttp: false, resolve: resolveName };

export function useOutsideRules(config: OutsideConfig): void {
  const { allowedAddresses, allowsHttp, caFile } = config;
  rules = {
    allowed: rangesOf(allowedAddresses),
    allowsHttp,
    resolve: resolveName,
    ...(caFile === undefined ? {} : { ca: readFileSync(caFile, 'utf8') }),
  };
}

/** Without a configuration, only public addresses are called, by https. */
export function outsideRules(): OutsideRules {
  return rules;
}
