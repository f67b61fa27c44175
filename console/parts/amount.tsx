// Money as the workspace writes it: its currency, decimals and grouping.
import { Text } from '@mantine/core';
import { useSession } from '../api/session.ts';

export type MoneyFormat = {
  /** The figure alone, as in the column of a table. */
  figure: (amount: number) => string;
  /** With the currency. */
  money: (amount: number) => string;
};

export function useMoney(): MoneyFormat {
  const { currency = '', currencyDecimals = 2, locale = 'en' } = useSession() ?? {};
  const format = new Intl.NumberFormat(figuresOf(locale), {
    minimumFractionDigits: currencyDecimals,
    maximumFractionDigits: currencyDecimals,
  });
  const figure = (amount: number) => format.format(amount);
  return { figure, money: (amount) => `${currency} ${figure(amount)}`.trim() };
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
