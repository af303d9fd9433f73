/** Groups of Spanish words and phrases that stand for each other, one a line, as `Synonyms.ts` reads them. */
export const spanish = `
empleado, trabajador
personal, plantilla, empleados
jefe, superior, responsable
supervisor, superior, encargado
compañero, colega
empresa, compañía, sociedad
trabajo, empleo, puesto
puesto, cargo
solicitud, candidatura
vacaciones, días libres, permiso
permiso, licencia
festivo, feriado, día festivo
embarazada, embarazo, maternidad
boda, matrimonio
fallecimiento, muerte, defunción
funeral, entierro
enfermo, enfermedad
baja médica, incapacidad temporal
certificado médico, parte médico
médico, doctor
accidente laboral, accidente de trabajo
sueldo, salario, remuneración
nómina, recibo de salario
aumento, incremento
paga extra, gratificación
horas extra, horas extraordinarias
horario, jornada
media jornada, tiempo parcial
teletrabajo, trabajo remoto, trabajo a distancia
trabajar desde casa, teletrabajo
despedir, despido
renunciar, dimitir, renuncia
preaviso, aviso previo
indemnización, compensación
jubilación, pensión, retiro
viaje de trabajo, viaje de negocios
gastos, dietas
reembolsar, reembolso, devolver
devolución, reembolso
recibo, justificante, comprobante
coche, vehículo, automóvil
carro, vehículo, coche
bicicleta, bici
billete, boleto, pasaje
avión, vuelo
hotel, alojamiento
formación, capacitación, curso
reunión, junta
sala de reuniones, sala de juntas
aplazar, posponer
cancelar, anular
queja, reclamación
quejarse, reclamación
acoso, hostigamiento
sindicato, representantes
oficina, despacho
tarjeta de acceso, acreditación
aparcar, estacionar
aparcamiento, estacionamiento
comida, almuerzo
baño, aseo, servicio
ascensor, elevador
basura, residuos, desechos
tirar, desechar, eliminar
incendio, fuego
salida de emergencia, salida de evacuación
urgencia, emergencia
herido, lesión, lesionado
avería, fallo, mal funcionamiento
no funciona, avería, fallo
roto, dañado, defectuoso
estropeado, averiado, dañado
arreglar, reparar
reparación, arreglo
problema, incidencia, error
solución de problemas, resolución de problemas
mantenimiento, conservación
cambiar, sustituir, reemplazar
repuesto, recambio, pieza de recambio
garantía, cobertura
devolver, devolución
factura, recibo
pagar, abonar, pago
transferencia, giro
tarjeta de crédito, tarjeta bancaria
cuenta bancaria, cuenta corriente
cajero, cajero automático
préstamo, crédito
deuda, adeudo
impuesto, tributo
multa, sanción
seguro, póliza
franquicia, deducible
siniestro, daño
contrato, acuerdo
condiciones, términos
abogado, letrado
tribunal, juzgado
comprar, adquirir, compra
pedido, orden, compra
envío, entrega
enviar, remitir, mandar
paquete, envío
precio, tarifa, coste
costo, coste
cuánto cuesta, precio, tarifa
barato, económico
caro, costoso
gratis, gratuito, sin coste
descuento, rebaja
presupuesto, cotización
alquiler, arrendamiento, renta
alquilar, arrendar
casero, arrendador, propietario
inquilino, arrendatario
mudarse, mudanza, cambio de domicilio
dirección, domicilio
ayuntamiento, municipio
formulario, impreso
rellenar, completar, cumplimentar
presentar, entregar
solicitar, pedir
recurso, apelación
autorización, permiso
permitido, autorizado
prohibido, no permitido
obligatorio, requerido
necesitar, requerir, necesario
hace falta, necesario
opcional, voluntario
norma, regla, reglamento
ley, legislación
manual, guía, instrucciones
carnet de conducir, permiso de conducir, licencia de conducir
carnet de identidad, documento de identidad, dni
escuela, colegio
alumno, estudiante
profesor, docente
maestro, docente
examen, prueba
nota, calificación
suspender, reprobar
matricularse, inscribirse, inscripción
medicamento, medicina, fármaco
receta, prescripción
efecto secundario, efecto adverso
dolor, molestia
vacuna, vacunación
teléfono, móvil, celular
ordenador, computadora, computador
portátil, laptop
pantalla, monitor
impresora, impresión
atasco de papel, papel atascado
batería, pila
cargar, recargar
cargador, adaptador de corriente
enchufe, toma de corriente
desenchufar, desconectar
enchufar, conectar
televisor, televisión, tele
mando, control remoto, mando a distancia
nevera, frigorífico, refrigerador
lavadora, máquina de lavar
encender, activar
apagar, desactivar, desconectar
iniciar, arrancar
reiniciar, reinicio
botón, tecla
pulsar, presionar, apretar
elegir, seleccionar, escoger
aplicación, app
programa, software
archivo, fichero
carpeta, directorio
archivo adjunto, anexo
foto, imagen, fotografía
contraseña, clave
usuario, nombre de usuario
iniciar sesión, acceder, ingresar
cerrar sesión, salir
cuenta, perfil
papelera, eliminados
borrar, eliminar, suprimir
quitar, eliminar, retirar
recuperar, restaurar
guardar, almacenar
copia de seguridad, respaldo
descargar, descarga, bajar
subir, cargar
compartir, uso compartido
ocultar, esconder
mostrar, visualizar
agregar, añadir
modificar, editar, cambiar
actualizar, actualización
instalar, instalación
restablecer, ajustes de fábrica
ajustes, configuración
configurar, ajustar
bloquear, bloqueo
acceso, entrada
enlace, vínculo
correo, email
sitio web, página web
limpiar, limpieza
ruido, sonido
fuga, pérdida
montar, ensamblar
desmontar, desarmar
usar, utilizar
conseguir, obtener
recibir, obtener
conservar, mantener
perder, pérdida, extraviar
robado, robo, hurto
buscar, encontrar
comprobar, verificar, revisar
averiguar, determinar
avisar, notificar, informar
contactar, comunicarse
ayuda, asistencia, soporte
empezar, comenzar, iniciar
terminar, finalizar, acabar
seguir, continuar
intentar, tratar
evitar, impedir
aumentar, incrementar
disminuir, reducir
diario, cada día, al día
semanal, cada semana, por semana
mensual, cada mes, al mes
anual, cada año, al año
dos veces, doble
enseguida, inmediatamente
rápido, rápidamente
antes, previamente
a menudo, frecuentemente
cuánto tiempo, duración
cuántas veces, frecuencia
plazo, fecha límite
aproximadamente, alrededor
al menos, mínimo, como mínimo
como máximo, máximo
más de, superior
menos de, inferior
suficiente, bastante
demasiado, excesivo
peligroso, peligro
fácil, sencillo
difícil, complicado
motivo, razón, causa
ventaja, beneficio
desventaja, inconveniente
diferencia, distinción
requisito, condición
objetivo, finalidad
tamaño, dimensiones
fecha de nacimiento, cumpleaños
cónyuge, esposo, esposa
marido, esposo, cónyuge
guardería, jardín de infancia
niño, menor
bebé, recién nacido, lactante
`
