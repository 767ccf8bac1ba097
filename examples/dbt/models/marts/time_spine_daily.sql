select day::date as day
from generate_series(date '2020-01-01', current_date + 366, interval '1 day') as day
