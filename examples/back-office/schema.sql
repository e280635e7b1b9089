-- psql office -f examples/back-office/schema.sql
create schema shop;
create table shop.customers (id int primary key, name text not null, city text not null);
create table shop.orders (
  id int primary key,
  customer_id int not null references shop.customers,
  sku text not null,
  count int not null,
  state text not null,
  placed_on date not null
);
insert into shop.customers values (1, 'Ada Weber', 'Berlin'), (2, 'Grace Klein', 'Hamburg');
insert into shop.orders values (71, 1, 'lamp', 2, 'open', '2026-11-20'), (72, 2, 'chair', 4, 'sent', '2026-11-12');

-- The model can write any query, so this role may read only what the model may see.
create role office_reader login password 'reader' connection limit 5;
alter role office_reader set temp_file_limit = '100MB';
grant usage on schema shop to office_reader;
grant select on shop.customers, shop.orders to office_reader;
