// A day that a screen uses as soon as it is chosen.
import { TextInput } from '@mantine/core';
import { useState } from 'react';

/** While a year is typed, browsers report days of years such as 0002. */
const wholeDay = /^(19|[2-9]\d)\d\d-\d\d-\d\d$/;

/** `onChange` gets whole days, and '' when the field is emptied; nothing while a day is typed. */
export function DayField({
  label,
  value,
  onChange,
  max = '9999-12-31',
}: {
  label: string;
  value: string;
  onChange: (day: string) => void;
  max?: string;
}) {
  const [typed, setTyped] = useState(value);
  return (
    <TextInput
      type="date"
      label={label}
      max={max}
      value={typed}
      onChange={({ currentTarget: { value: day, validity } }) => {
        setTyped(day);
        if (wholeDay.test(day) || (day === '' && !validity.badInput)) onChange(day);
      }}
    />
  );
}
