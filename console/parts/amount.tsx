// Money as the workspace writes it: its currency, decimals and grouping.
import { Text } from '@mantine/core';
import { useSession } from '../api/session.ts';
import { sumOf } from './totals.ts';

export type MoneyFormat = {
  /** The figure alone, as in the column of a table. */
  figure: (amount: number) => string;
  /** With the currency. */
  money: (amount: number) => string;
  /** A quantity, or the amount beside a chart: no more decimals than it has. */
  quantity: (value: number) => string;
  sum: (amounts: readonly number[]) => number;
};

export function useMoney(): MoneyFormat {
  const { currency = '', currencyDecimals = 2, locale = 'en' } = useSession() ?? {};
  const format = new Intl.NumberFormat(figuresOf(locale), {
    minimumFractionDigits: currencyDecimals,
    maximumFractionDigits: currencyDecimals,
    // Zero has no sign, whatever a subtraction left of it.
    signDisplay: 'negative',
  });
  const figure = (amount: number) => format.format(amount);
  const quantities = new Intl.NumberFormat(figuresOf(locale), { maximumFractionDigits: 3 });
  return {
    figure,
    money: (amount) => `${currency} ${figure(amount)}`.trim(),
    quantity: (value) => quantities.format(value),
    sum: (amounts) => sumOf(amounts, currencyDecimals),
  };
}

/** Grouping of the locale with the digits that all of our tables use. */
function figuresOf(locale: string): string {
  return Intl.NumberFormat.supportedLocalesOf(locale).length > 0 ? `${locale}-u-nu-latn` : 'en';
}

export function Amount({ value }: { value: number }) {
  const { figure } = useMoney();
  return <Figure text={figure(value)} />;
}

export function Money({ value }: { value: number }) {
  const { money } = useMoney();
  return <Figure text={money(value)} />;
}

/** From left to right also in a page that is read from right to left. */
function Figure({ text }: { text: string }) {
  return (
    <Text span inherit className="figure" dir="ltr">
      {text}
    </Text>
  );
}
